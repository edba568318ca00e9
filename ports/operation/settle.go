package operation

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Settled is the whole document that a row stores when the call is allowed. It is computed
// from the body of the call.
type Settled struct {
	Body json.RawMessage
	At   store.Serial // of the record from which it was computed; 0: no record
}

// Settles sets the function that computes the stored document, for rows with a body that is
// not stored as it is: a patch, an archive, a description that becomes a definition. fn takes
// the row's input and changes nothing.
//
// Rules decide about the result of fn, and may patch it. The row then gets this result instead
// of the original body: its body is the result, a Document or a Patch says that it is whole,
// an input field of type Settled is set, and its Match holds only while the record has the
// serial that fn saw.
func Settles[I any](fn func(context.Context, I) (Settled, error)) Option {
	p := compile(reflect.TypeFor[I](), Param{}, Param{})
	return func(s *Spec) {
		s.settle = func(ctx context.Context, c *Call) (Settled, error) {
			var in I
			if err := p.fill(reflect.ValueOf(&in).Elem(), c); err != nil {
				return Settled{}, err
			}
			return fn(ctx, in)
		}
	}
}

// settlement is the stored result of Settle.
type settlement struct {
	Settled
	err error
}

// Settle returns the document that the row will store. It computes the document once. For rows
// without Settles, it is the body itself.
func (c *Call) Settle(ctx context.Context) (json.RawMessage, error) {
	if c.Spec.settle == nil {
		return c.Body, nil
	}
	if c.settled == nil {
		if !c.Principal.Permissions.Allows(c.Spec.Permission, c.Spec.Intent) {
			ctx = context.WithValue(ctx, undecided{}, true)
		}
		s, err := c.Spec.settle(ctx, c)
		c.settled = &settlement{s, err}
	}
	return c.settled.Body, c.settled.err
}

type undecided struct{}

// Undecided reports whether the caller may still turn out not to be allowed to make the call.
// Effects that others would notice, such as a download, must wait.
func Undecided(ctx context.Context) bool { return ctx.Value(undecided{}) != nil }

// Amend applies a merge patch to the document of Settle; a nil patch changes nothing. It
// returns an error if Settle failed: the row must not store a document that was not decided
// about.
func (c *Call) Amend(ctx context.Context, patch json.RawMessage) error {
	if patch == nil {
		if c.settled != nil {
			return c.settled.err
		}
		return nil
	}
	body, err := c.Settle(ctx)
	if err != nil {
		return err
	}
	if doc.Check(body, 0) != nil {
		return nil // the decoder reports the error
	}
	if body, err = doc.Merge(body, patch); err != nil {
		return err
	}
	if c.settled != nil {
		c.settled.Body = body
	} else {
		c.Body = body
	}
	return nil
}

// Unsettle drops the result of Settle.
func (c *Call) Unsettle() { c.settled = nil }

// whole returns the settled document, or nil.
func (c *Call) whole() *Settled {
	if c.settled == nil || c.settled.err != nil {
		return nil
	}
	return &c.settled.Settled
}

// CodeMoved is the code of the fault for a record that changed between the
// decision about a call and the unit of work.
const CodeMoved = "settled.moved"
