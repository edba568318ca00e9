// Package fault defines the errors of the control plane, classified by what the caller can do
// about them. Any other error is an internal error, and its text never reaches a client.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind classifies a failure by what the caller can do about it.
type Kind uint8

// The kinds of failure. Adapters map each kind to one response per surface.
const (
	Internal        Kind = iota // nothing; the operator must investigate
	Invalid                     // correct the request
	Unauthenticated             // present a valid credential
	Denied                      // ask for permission
	NotFound                    // name something that exists
	Conflict                    // choose another unique value
	Stale                       // read again: a precondition does not hold any more (RFC 9110, 13.1)
	Unavailable                 // try again later
	TooLarge                    // send less
	TooMany                     // wait
	TooSlow                     // send faster
)

var names = [...]string{"internal", "invalid", "unauthenticated", "denied", "not_found", "conflict", "stale", "unavailable", "too_large", "too_many", "too_slow"}

// String returns the kind as it appears in logs and in the code of a fault
// that has no code of its own.
func (k Kind) String() string {
	if int(k) < len(names) {
		return names[k]
	}
	return names[Internal]
}

// Kinds lists every kind.
func Kinds() []Kind {
	out := make([]Kind, len(names))
	for i := range out {
		out[i] = Kind(i)
	}
	return out
}

// Error is a failure that may be shown to an API client.
type Error struct {
	Kind    Kind
	Code    string // stable and machine readable: "clientidp.jwks_uri"
	Message string // safe to show: no driver text, no secret
	Field   string // JSON path of the offending field, or ""
	Err     error  // the cause, for logs only
	Wait    int    // seconds after which to try again; 0: the default of its kind
	// All are the messages if there are several errors; nil: Message is the only one.
	All []string
}

// Error returns the message and the cause; only Message is for clients.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New builds an Error without a cause.
func New(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Several builds an Error from at least one message.
func Several(kind Kind, code string, messages []string) *Error {
	return &Error{Kind: kind, Code: code, Message: strings.Join(messages, "; "), All: messages}
}

// Messages returns a copy of the messages of the outermost Error in err's tree; nil if there
// is none.
func Messages(err error) []string {
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return nil
	case len(e.All) > 0:
		return slices.Clone(e.All)
	}
	return []string{e.Message}
}

// At returns e with the field set.
func (e *Error) At(field string) *Error {
	c := *e
	c.Field = field
	return &c
}

// Because returns e with the cause set.
func (e *Error) Because(err error) *Error {
	c := *e
	c.Err = err
	return &c
}

// KindOf returns the kind of the outermost Error in err's tree; Internal if there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Refuses reports whether an error says that something the caller wants cannot be done. Other
// errors, and nil, say nothing about it: the service fails, or another caller interferes.
func Refuses(err error) bool {
	switch KindOf(err) {
	case Internal, Stale, Unavailable:
		return false
	default:
		return true
	}
}

// AbsentFine treats a NotFound fault as success: the record is gone already.
func AbsentFine(err error) error {
	if KindOf(err) == NotFound {
		return nil
	}
	return err
}

// CodeOf returns the code of the outermost Error in err's tree, or the name of its kind.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Code != "" {
		return e.Code
	}
	return KindOf(err).String()
}
