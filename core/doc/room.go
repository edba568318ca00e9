package doc

import "fmt"

// Room bounds a request body in bytes and in JSON values; 0: no limit.
type Room struct{ Bytes, Values int }

// MostEscaped is how many bytes a byte of a text takes at most in JSON, as in \u0001.
const MostEscaped = 6

// Holds reports whether a document of so many values and bytes fits.
func (r Room) Holds(values, size int) bool {
	return (r.Bytes <= 0 || size <= r.Bytes) && (r.Values <= 0 || values <= r.Values)
}

// Lack returns why a document does not fit into a request body, or "": a patch may produce a
// document that clients could not send back. A document that does not get larger than before fits.
func (r Room) Lack(values, size int, before func() (values, size int)) string {
	many, large := r.Values > 0 && values > r.Values, r.Bytes > 0 && size > r.Bytes
	if !many && !large {
		return ""
	}
	switch oldValues, oldSize := before(); {
	case many && values > oldValues:
		return fmt.Sprintf("it would hold more than %d values", r.Values)
	case large && size > oldSize:
		return fmt.Sprintf("it would have more than %d bytes", r.Bytes)
	}
	return ""
}

// LackText is Lack for encoded documents.
func (r Room) LackText(text []byte, before func() []byte) string {
	values := len(text) // no text has more values than bytes: a short one need not be counted
	if r.Values > 0 && values > r.Values {
		values = Count(text)
	}
	return r.Lack(values, len(text), func() (int, int) {
		old := before()
		return Count(old), len(old)
	})
}
