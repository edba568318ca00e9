package records

import (
	"errors"
	"fmt"
	"time"

	"github.com/tinylib/msgp/msgp"

	"github.com/gatehouse-io/gatehouse/core/analytics/record"
)

// cursor reads values, one after the other. After an error it reads zeros.
type cursor struct {
	rest []byte
	err  error
}

// errTail: bytes after the record would be lost if the reader ignored them.
var errTail = errors.New("bytes follow the record")

// members maps the names of a map's members to their readers.
type members[T any] map[string]func(*cursor, *T)

// readMap decodes an entry that is one map.
func readMap[T any](entry []byte, into *T, known members[T]) error {
	c := &cursor{rest: entry}
	walk(c, into, known)
	if c.err == nil && len(c.rest) > 0 {
		c.err = errTail
	}
	return c.err
}

// walk decodes a map, or nil.
func walk[T any](c *cursor, into *T, known members[T]) {
	for range c.length(msgp.MapType) {
		name := c.bytes()
		if c.err != nil {
			return
		}
		if read, ok := known[string(name)]; ok {
			if read(c, into); c.err != nil {
				c.err = fmt.Errorf("%.40s: %w", name, c.err)
			}
		} else {
			c.skip()
		}
	}
}

// take returns what a reader of the library decodes; nil decodes to the zero value.
func take[T any](c *cursor, read func([]byte) (T, []byte, error)) (v T) {
	if c.err != nil {
		return v
	}
	if len(c.rest) > 0 && msgp.NextType(c.rest) == msgp.NilType {
		c.rest = c.rest[1:]
		return v
	}
	got, rest, err := read(c.rest)
	if err != nil {
		c.err = err
		return v
	}
	c.rest = rest
	return got
}

func (c *cursor) skip() {
	if c.err == nil {
		c.rest, c.err = msgp.Skip(c.rest)
	}
}

// bytes reads a string or binary value: some writers use either type.
func (c *cursor) bytes() []byte {
	if c.err == nil && len(c.rest) > 0 && msgp.NextType(c.rest) == msgp.BinType {
		return take(c, msgp.ReadBytesZC)
	}
	return take(c, msgp.ReadStringZC)
}

func (c *cursor) text() string   { return string(c.bytes()) }
func (c *cursor) flag() bool     { return take(c, msgp.ReadBoolBytes) }
func (c *cursor) float() float64 { return take(c, msgp.ReadFloat64Bytes) }

// number reads an integer of any width. A number that is too large for the tables becomes
// the largest that they can hold.
func (c *cursor) number() int64 {
	return take(c, func(b []byte) (int64, []byte, error) {
		n, rest, err := msgp.ReadInt64Bytes(b)
		if _, large := errors.AsType[msgp.UintOverflow](err); large {
			u, rest, err := msgp.ReadUint64Bytes(b)
			return int64(min(u, 1<<63-1)), rest, err
		}
		return n, rest, err
	})
}

// length reads the header of an array or a map. The claimed length must not be used to
// allocate memory.
func (c *cursor) length(of msgp.Type) int {
	if of == msgp.MapType {
		return int(take(c, msgp.ReadMapHeaderBytes))
	}
	return int(take(c, msgp.ReadArrayHeaderBytes))
}

// each calls read for the elements of an array, at most as many as a record may have,
// until one cannot be read.
func (c *cursor) each(read func()) { c.some(c.length(msgp.ArrayType), 1, read) }

// entries calls read for the entries of a map, as each does for elements.
func (c *cursor) entries(read func()) { c.some(c.length(msgp.MapType), 2, read) }

func (c *cursor) some(n, values int, read func()) {
	for i := 0; i < n && c.err == nil; i++ {
		if i < record.MaxList {
			read()
			continue
		}
		for range values {
			c.skip()
		}
	}
}

func (c *cursor) list() (out []string) {
	c.each(func() { out = append(out, c.text()) })
	return out
}

// moment reads a time of seconds and nanoseconds.
func (c *cursor) moment() (at time.Time) {
	var parts [2]int64
	n := 0
	c.each(func() {
		if n < len(parts) {
			parts[n] = c.number()
		} else {
			c.skip()
		}
		n++
	})
	if n == 0 || c.err != nil {
		return at
	}
	return time.Unix(parts[0], parts[1])
}

// names reads a map of strings.
func (c *cursor) names() map[string]string {
	out := map[string]string{}
	c.entries(func() {
		name := c.text()
		out[name] = c.text()
	})
	return out
}

// into returns a reader for a member that is a value.
func into[T, V any](read func(*cursor) V, place func(*T) *V) func(*cursor, *T) {
	return func(c *cursor, t *T) { *place(t) = read(c) }
}

// below returns a reader for a member that is a map.
func below[T, V any](known members[V], place func(*T) *V) func(*cursor, *T) {
	return func(c *cursor, t *T) { walk(c, place(t), known) }
}

// types reads a map from types to lists of names.
func (c *cursor) types() (out []record.Type) {
	c.entries(func() { out = append(out, record.Type{Name: c.text(), Fields: c.list()}) })
	return out
}
