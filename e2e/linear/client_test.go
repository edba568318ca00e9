package linear_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// caller sends requests to the replicas of one service.
type caller struct {
	http     *http.Client
	replicas []string // base URLs
	key      string
}

// document is the part of an answer that tests read: a whole record, or one mapping of
// it.
type document struct {
	Name     string                  `json:"name"`
	Mappings map[string]wire[scopes] `json:"api_mappings"`
	Scopes   scopes                  `json:"scope_to_policy"`
}

// wire is a mapping in requests and answers.
type wire[S any] struct {
	Scopes S `json:"scope_to_policy"`
}

// do sends one request. An error means an answer that docs/wire does not allow; a
// missing answer is an output with unknown effect.
func (c *caller) do(ctx context.Context, p planned) (output, error) {
	if p.giveUp > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.giveUp)
		defer cancel()
	}
	req, err := c.request(ctx, p)
	if err != nil {
		return output{}, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return unanswered(p, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return unanswered(p, err)
	}
	if resp.StatusCode >= 500 {
		return output{Unknown: true}, fmt.Errorf("%s: %s: %s", p.Verb, resp.Status, body)
	}
	out, err := understand(p.input, resp, body)
	if err != nil {
		err = fmt.Errorf("%s: %s: %w: %s", p.Verb, resp.Status, err, body)
	}
	return out, err
}

// unanswered returns an output for a client that gave up, and an error for others.
func unanswered(p planned, err error) (output, error) {
	if p.giveUp > 0 && errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return output{Unknown: true}, err
}

func (c *caller) request(ctx context.Context, p planned) (*http.Request, error) {
	method, path, body := p.wire()
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	target := c.replicas[p.replica%len(c.replicas)] + "/api/clientidps" + path
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", c.key)
	req.Header.Set("Content-Type", "application/json")
	if p.Match != "" {
		req.Header.Set("If-Match", p.Match)
	}
	if p.NoneMatch != "" {
		req.Header.Set("If-None-Match", p.NoneMatch)
	}
	return req, nil
}

// wire returns the HTTP form of the request (docs/wire/client-idps.md#operations).
func (in input) wire() (method, path string, body any) {
	record := "/" + url.PathEscape(in.Record)
	mapping := record + "/mappings/" + url.PathEscape(in.API)
	switch in.Verb {
	case create:
		return http.MethodPost, "", in.draft()
	case replace:
		return http.MethodPut, record, in.draft()
	case remove:
		return http.MethodDelete, record, nil
	case patch:
		return http.MethodPatch, record + "/mappings", in.Patch.wire()
	case putMapping:
		return http.MethodPut, mapping, wire[scopes]{in.Mappings[in.API]}
	case removeMapping:
		return http.MethodDelete, mapping, nil
	case readMapping:
		return http.MethodGet, mapping, nil
	}
	return http.MethodGet, record, nil
}

func (in input) draft() any {
	table := map[string]wire[scopes]{}
	for api, sc := range in.Mappings {
		table[api] = wire[scopes]{sc}
	}
	return map[string]any{"client_idp_id": in.Record, "name": in.Name, "jwks_uri": "https://login.example.com/jwks.json", "api_mappings": table}
}

func (m merge) wire() any {
	out := map[string]*wire[map[string]*string]{}
	for api, changes := range m {
		if changes == nil {
			out[api] = nil
			continue
		}
		out[api] = &wire[map[string]*string]{changes}
	}
	return out
}

// understand decodes an answer.
func understand(in input, resp *http.Response, body []byte) (output, error) {
	out := output{Status: resp.StatusCode, Tag: resp.Header.Get("ETag")}
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusNotModified:
		return output{Status: out.Status}, nil
	case http.StatusOK, http.StatusCreated:
	default:
		return output{Unknown: true}, errors.New("unexpected status")
	}
	if in.Verb == create || in.Verb == remove || in.Verb == removeMapping {
		return out, nil
	}
	var d document
	if err := json.Unmarshal(body, &d); err != nil {
		return output{Unknown: true}, err
	}
	out.Name, out.Mappings = d.Name, mappings{}
	for api, m := range d.Mappings {
		out.Mappings[api] = m.Scopes
	}
	if in.Verb == readMapping {
		out.Mappings[in.API] = d.Scopes
	}
	return out, nil
}

// ready waits until every replica accepts the caller.
func (c *caller) ready(ctx context.Context) error {
	for i := range c.replicas {
		for {
			_, err := c.do(ctx, planned{input: input{Record: "nobody", Verb: read}, replica: i})
			if err == nil {
				break
			}
			if !strings.Contains(err.Error(), "unexpected status") || ctx.Err() != nil {
				return err
			}
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	return nil
}
