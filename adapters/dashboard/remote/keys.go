package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/retry"
)

const keys = "/api/keys"

// keyPath is the address of one key, with query parameters.
func keyPath(name dashboard.KeyName, query url.Values) string {
	if name.Hashed {
		query.Set("hashed", "1")
	}
	at := keys + "/" + url.PathEscape(name.Text)
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	return at
}

// Keys implements dashboard.Keys.
func (c *Client) Keys(ctx context.Context) ([]dashboard.Key, error) {
	a, err := c.read(ctx, keys+"/detailed?p=-1")
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return dashboard.DecodeKeys(a.Body)
}

// Key implements dashboard.Keys.
func (c *Client) Key(ctx context.Context, name dashboard.KeyName) (dashboard.Key, error) {
	a, err := c.read(ctx, keyPath(name, url.Values{}))
	return keyOf("read a key", a, dashboard.Hide(err, name))
}

func keyOf(what string, a fetch.Answer, err error) (dashboard.Key, error) {
	if err != nil {
		return dashboard.Key{}, fmt.Errorf("%s: %w", what, err)
	}
	return dashboard.DecodeKey(a.Body)
}

// again sends a write that can be repeated, until there is an answer.
func (c *Client) again(ctx context.Context, method, at string, body []byte) (fetch.Answer, error) {
	pause := retry.New(c.c.Pause, longestPause)
	sent := false // perhaps by an earlier attempt
	for attempt := 1; ; attempt++ {
		a, err := c.call(ctx, method, at, "", body)
		if sent && errors.Is(err, dashboard.ErrUnsent) {
			err = fmt.Errorf("%w: %s", dashboard.ErrUnreachable, err.Error())
		}
		sent = sent || !errors.Is(err, dashboard.ErrUnsent)
		if a.Status == http.StatusConflict { // another change of the key is open
			err = fmt.Errorf("%w: %d %s", dashboard.ErrUnreachable, a.Status, c.said(a.Body))
		}
		if !errors.Is(err, dashboard.ErrUnreachable) || attempt == c.c.Attempts || ctx.Err() != nil {
			return a, err
		}
		if waited := pause.Wait(ctx); waited != nil {
			return a, err
		}
	}
}

// CreateKey implements dashboard.Keys.
func (c *Client) CreateKey(ctx context.Context, id string, session *doc.Node) (dashboard.Key, error) {
	name := dashboard.KeyName{Text: id}
	a, err := c.again(ctx, http.MethodPost, keyPath(name, url.Values{}), session.JSON())
	return keyOf("create a key", a, dashboard.Hide(err, name))
}

// ReplaceKey implements dashboard.Keys.
func (c *Client) ReplaceKey(ctx context.Context, name dashboard.KeyName, session *doc.Node) (dashboard.Key, error) {
	a, err := c.again(ctx, http.MethodPut, keyPath(name, url.Values{"suppress_reset": {"1"}}), session.JSON())
	return keyOf("replace a key", a, dashboard.Hide(err, name))
}

// DeleteKey implements dashboard.Keys.
func (c *Client) DeleteKey(ctx context.Context, name dashboard.KeyName) error {
	if _, err := c.again(ctx, http.MethodDelete, keyPath(name, url.Values{}), nil); err != nil && !errors.Is(err, dashboard.ErrGone) {
		return fmt.Errorf("delete a key: %w", dashboard.Hide(err, name))
	}
	return nil
}
