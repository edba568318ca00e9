// Package records reads what gateways push for analytics: entries in msgpack and in
// protobuf (docs/wire/records.md#encoding). What it does not know it ignores, and what is
// missing stays zero: releases of gateways differ.
package records

import (
	"errors"

	"github.com/gatehouse-io/gatehouse/core/analytics/record"
)

// errNoRecord: an entry may be a map and still be of another program.
var errNoRecord = errors.New("it has no time")

// Decoder implements analytics.Decoder.
type Decoder struct{}

// Record reads a record.
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

// Uptime reads the result of an uptime check, which is always msgpack.
func (Decoder) Uptime(entry []byte) (u record.Uptime, err error) {
	err = readMap(entry, &u, uptimeMembers)
	if err == nil && u.TimeStamp.IsZero() {
		err = errNoRecord
	}
	return u, err
}
