// Package local is the dashboard in the same process: it carries out operations of the
// table as a user of an organisation, without HTTP, with the same permission checks as
// every other caller.
package local

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Do carries out an operation by its identifier.
type Do func(ctx context.Context, id string, c *operation.Call) (any, error)

// Text encodes an answer as clients of an operation get it.
type Text func(id string, answer any) ([]byte, error)

// Client is a dashboard.Dashboard.
type Client struct {
	dashboard.Entries
	do     Do
	text   Text
	secret string
}

// New returns a Client that calls as the user with an access key.
func New(do Do, text Text, secret string) *Client {
	c := &Client{do: do, text: text, secret: secret}
	c.Wire = c.wire
	return c
}

// call carries out an operation and classifies its error.
func (c *Client) call(ctx context.Context, id string, call operation.Call) (any, error) {
	call.Token = c.secret
	out, err := c.do(ctx, id, &call)
	if err == nil {
		return out, nil
	}
	class := dashboard.ErrRefused
	switch fault.KindOf(err) {
	case fault.NotFound:
		class = dashboard.ErrGone
	case fault.Stale:
		class = dashboard.ErrChanged
	case fault.Unavailable, fault.TooMany, fault.Internal:
		class = dashboard.ErrUnreachable
	}
	if fault.CodeOf(err) == intent.CodeBusy {
		class = dashboard.ErrUnreachable
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind == fault.Internal { // its text is for logs
		return nil, fmt.Errorf("%w: %s", class, fault.Internal)
	}
	return nil, fmt.Errorf("%w: %s", class, f.Message)
}

// read returns an answer as JSON text.
func (c *Client) read(ctx context.Context, id string, call operation.Call) ([]byte, any, error) {
	out, err := c.call(ctx, id, call)
	if err != nil {
		return nil, nil, err
	}
	text, err := c.text(id, out)
	return text, out, err
}

var all = url.Values{"p": {"-2"}}

// Policies implements dashboard.Dashboard.
func (c *Client) Policies(ctx context.Context) ([]*doc.Node, error) {
	text, _, err := c.read(ctx, "policies.list", operation.Call{Query: all})
	if err != nil {
		return nil, fmt.Errorf("list policies: %w", err)
	}
	return dashboard.DecodePolicies(text)
}

// APIs implements dashboard.Dashboard.
func (c *Client) APIs(ctx context.Context) ([]sync.API, error) {
	text, _, err := c.read(ctx, "apis.list", operation.Call{Query: all})
	if err != nil {
		return nil, fmt.Errorf("list APIs: %w", err)
	}
	out, err := dashboard.DecodeAPIs(text)
	if err != nil {
		return nil, err
	}
	text, _, err = c.read(ctx, "mcps.list", operation.Call{Query: all})
	return dashboard.WithProxies(out, text, err)
}

// Policy implements dashboard.Dashboard.
func (c *Client) Policy(ctx context.Context, ref sync.Ref) (dashboard.Policy, error) {
	name := ref.ObjectID
	if name == "" {
		name = ref.ID
	}
	text, out, err := c.read(ctx, "policies.get", operation.Call{Path: map[string]string{"id": name}})
	if err != nil {
		return dashboard.Policy{}, fmt.Errorf("read the policy %s: %w", ref.Name(), err)
	}
	n, err := doc.ParseNode(text)
	if err != nil {
		return dashboard.Policy{}, fmt.Errorf("read the policy %s: %w", ref.Name(), err)
	}
	p := dashboard.Policy{Document: n}
	if e, ok := out.(operation.Entity[policy.View]); ok {
		p.Tag = e.Tag
	}
	if got := p.Ref(); ref.ObjectID != "" && got.ObjectID != ref.ObjectID || ref.ObjectID == "" && got.ID != ref.ID { // the other document has this identifier as its _id
		return dashboard.Policy{}, fmt.Errorf("read the policy %s: another policy answers to its name: %w", ref.Name(), dashboard.ErrRefused)
	}
	return p, nil
}

// Create implements dashboard.Dashboard.
func (c *Client) Create(ctx context.Context, document *doc.Node) (sync.Ref, error) {
	answer, _, err := c.read(ctx, "policies.create", operation.Call{Body: document.JSON()})
	if err == nil {
		return dashboard.Created(ctx, c, answer, document)
	}
	if errors.Is(err, dashboard.ErrUnreachable) { // the write may have been carried out
		if ref, found := dashboard.Find(ctx, c, document); found == nil {
			return ref, nil
		}
	}
	return sync.Ref{}, fmt.Errorf("create the policy %s: %w", document.Get("name").Text(), err)
}

// Replace implements dashboard.Dashboard.
func (c *Client) Replace(ctx context.Context, p dashboard.Policy) error {
	call := operation.Call{Path: map[string]string{"id": p.Ref().ObjectID}, Body: p.Document.JSON(), Header: precondition(p.Tag)}
	if _, err := c.call(ctx, "policies.replace", call); err != nil {
		return fmt.Errorf("replace the policy %s: %w", p.Ref().Name(), err)
	}
	return nil
}

func precondition(tag string) map[string]string {
	if tag == "" {
		return nil
	}
	return map[string]string{"If-Match": `"` + tag + `"`}
}

// Delete implements dashboard.Dashboard.
func (c *Client) Delete(ctx context.Context, ref sync.Ref) error {
	p, err := c.Policy(ctx, ref)
	if err == nil {
		_, err = c.call(ctx, "policies.delete", operation.Call{Path: map[string]string{"id": p.Ref().ObjectID}, Header: precondition(p.Tag)})
	}
	if err != nil && !errors.Is(err, dashboard.ErrGone) {
		return fmt.Errorf("delete the policy %s: %w", ref.Name(), err)
	}
	return nil
}
