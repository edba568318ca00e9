// Package records decodes the analytics entries that gateways push, in msgpack and in
// protobuf (docs/wire/records.md#encoding). Unknown members are ignored, and missing
// members stay zero: releases of gateways differ.
package records

import (
	"errors"

	"github.com/gatehouse-io/gatehouse/core/analytics/record"
)

// errNoRecord: an entry can be a valid map and still come from another program.
var errNoRecord = errors.New("it has no time")

// Decoder implements analytics.Decoder.
type Decoder struct{}

// Record decodes a record.
func (Decoder) Record(entry []byte, protobuf bool) (r record.Record, err error) {
	if protobuf {
		err = readMessage(entry, &r)
	} else {
		err = readMap(entry, &r, recordMembers)
	}
	if err == nil && r.TimeStamp.IsZero() {
		err = errNoRecord
	}
	return r, err
}

// Uptime decodes the result of an uptime check, which is always msgpack.
func (Decoder) Uptime(entry []byte) (u record.Uptime, err error) {
	err = readMap(entry, &u, uptimeMembers)
	if err == nil && u.TimeStamp.IsZero() {
		err = errNoRecord
	}
	return u, err
}
