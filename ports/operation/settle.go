package operation

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Settled is what the body of a call comes to: the whole document that the row
// stores when the call goes ahead.
type Settled struct {
	Body json.RawMessage
	At   store.Serial // of the record that it was made from; 0: of none
}

// Settles says what the body of a row comes to, for rows whose body is not what
// they store: a patch, an archive, a description that becomes a definition. fn
// takes the row's input and changes nothing.
//
// Rules decide about what fn returns, and may patch it. The row then gets that in
// place of what was sent: its body is that, a Document or a Patch says that it is
// whole, an input of the type Settled is set, and its Match holds only while the
// record is the one that fn saw.
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

// settlement is the outcome of settling a call.
type settlement struct {
	Settled
	err error
}

// Settle returns what the body of the call comes to, which it works out once. Of
// rows that do not say, that is the body itself.
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

// Undecided reports whether it is still open if the caller may do this at all.
// Effects that others would notice, such as a download, must wait.
func Undecided(ctx context.Context) bool { return ctx.Value(undecided{}) != nil }

// Amend applies a merge patch to what the body comes to; a nil patch changes
// nothing. It fails where the body that was decided about could not be settled:
// the row must not store what was not decided about.
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
		return nil // the decoder says what is wrong with it
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

// Unsettle forgets what the body came to.
func (c *Call) Unsettle() { c.settled = nil }

// whole returns what was settled, or nil.
func (c *Call) whole() *Settled {
	if c.settled == nil || c.settled.err != nil {
		return nil
	}
	return &c.settled.Settled
}

// CodeMoved is the code of the fault for a record that changed between the
// decision about a call and the unit of work.
const CodeMoved = "settled.moved"
