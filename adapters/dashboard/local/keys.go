package local

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// everyKey asks for the whole list in one page.
var everyKey = url.Values{"p": {"-1"}}

// named returns the call about one key.
func named(name dashboard.KeyName) operation.Call {
	call := operation.Call{Path: map[string]string{"keyId": name.Text}, Query: url.Values{}}
	if name.Hashed {
		call.Query.Set("hashed", "1")
	}
	return call
}

// Keys implements dashboard.Keys.
func (c *Client) Keys(ctx context.Context) ([]dashboard.Key, error) {
	text, _, err := c.read(ctx, "keys.detailed", operation.Call{Query: everyKey})
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return dashboard.DecodeKeys(text)
}

// Key implements dashboard.Keys.
func (c *Client) Key(ctx context.Context, name dashboard.KeyName) (dashboard.Key, error) {
	return c.key(ctx, "read a key", "keys.get", named(name))
}

// key carries out an operation that answers with a key.
func (c *Client) key(ctx context.Context, what, id string, call operation.Call) (dashboard.Key, error) {
	text, _, err := c.read(ctx, id, call)
	if err != nil {
		return dashboard.Key{}, fmt.Errorf("%s: %w", what, dashboard.Hide(err, dashboard.KeyName{Text: call.Path["keyId"]}))
	}
	return dashboard.DecodeKey(text)
}

// CreateKey implements dashboard.Keys.
func (c *Client) CreateKey(ctx context.Context, id string, session *doc.Node) (dashboard.Key, error) {
	return c.key(ctx, "create a key", "keys.create-named", operation.Call{Path: map[string]string{"keyId": id}, Body: session.JSON()})
}

// ReplaceKey implements dashboard.Keys.
func (c *Client) ReplaceKey(ctx context.Context, name dashboard.KeyName, session *doc.Node) (dashboard.Key, error) {
	call := named(name)
	call.Body = session.JSON()
	call.Query.Set("suppress_reset", "1")
	return c.key(ctx, "replace a key", "keys.replace", call)
}

// DeleteKey implements dashboard.Keys.
func (c *Client) DeleteKey(ctx context.Context, name dashboard.KeyName) error {
	if _, err := c.call(ctx, "keys.delete", named(name)); err != nil && !errors.Is(err, dashboard.ErrGone) {
		return fmt.Errorf("delete a key: %w", dashboard.Hide(err, name))
	}
	return nil
}
