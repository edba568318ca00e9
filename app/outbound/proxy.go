package outbound

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/core/weburl"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Proxy calls gateways on behalf of users, who could not do so from a browser.
type Proxy struct {
	Fetcher  fetch.Fetcher
	Gateways Gateways
}

// Codes of the faults of a proxied request.
const (
	codeInvalid = "proxy.invalid"
	codeUnknown = "proxy.denied"
	codeFailed  = "proxy.failed"
)

// ProxyRequest is the request to a gateway.
type ProxyRequest struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"` // absolute URL of a known gateway
	Headers map[string]string `json:"headers,omitempty"`
	Body    json.RawMessage   `json:"body,omitempty"` // a JSON string is sent as text, anything else as JSON
}

// ProxyAnswer is the response of the gateway.
type ProxyAnswer struct {
	StatusCode int               `json:"status_code"`
	Headers    map[string]string `json:"headers"`
	Body       json.RawMessage   `json:"body"` // a JSON body as JSON, anything else as a string; an empty string without a body
}

// Operations lists the only operation of the proxy.
func (p *Proxy) Operations() []operation.Operation {
	return operation.Group{
		Surface: operation.Management, Name: "proxy", Path: "/api/proxy", Tag: "Proxy", Permission: access.APIs,
		Style: operation.Style{Word: "OK", Faults: map[string]operation.Answer{
			operation.CodeEmptyBody: {Text: "Invalid proxy request"},
			operation.CodeMalformed: {Text: "Invalid proxy request"},
			codeInvalid:             {Text: "Invalid proxy request"},
			codeFailed:              {Status: 500, Text: "Failed to process proxy request"},
		}},
	}.Rows(operation.POST("call", "", "Call a gateway", p.Call, operation.Faulting(codeInvalid, codeUnknown, codeFailed),
		operation.Redact("headers", "body"),
		operation.Notes("The response contains the status of the gateway's response. Redirects to other servers are not followed."),
		operation.Example(map[string]any{"method": "GET", "url": "https://gateway.example.com/orders/1", "headers": map[string]string{"Accept": "application/json"}},
			map[string]any{"status_code": 200, "headers": map[string]string{"Content-Type": "application/json"}, "body": map[string]any{"id": 1}})))
}

type callIn struct {
	Scope   tenant.Scope
	Request ProxyRequest `body:""`
}

var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// Call sends one request to a known gateway and returns the response.
func (p *Proxy) Call(ctx context.Context, in callIn) (ProxyAnswer, error) {
	r := in.Request
	if r.Method = strings.ToUpper(r.Method); !slices.Contains(methods, r.Method) {
		return ProxyAnswer{}, fault.New(fault.Invalid, codeInvalid, "method must be one of %s", strings.Join(methods, ", ")).At("method")
	}
	if u, err := weburl.Parse(r.URL); err != nil || hostOf(u) == "" {
		return ProxyAnswer{}, fault.New(fault.Invalid, codeInvalid, "url must be an absolute URL").At("url")
	}
	known, err := p.Gateways(ctx, in.Scope)
	if err != nil {
		return ProxyAnswer{}, err
	}
	g, ok := find(known, r.URL)
	if !ok || !named(known, r.Headers) {
		return ProxyAnswer{}, unrecognised
	}
	header := map[string]string{}
	if len(r.Body) > 0 && r.Body[0] != '"' && !doc.IsNull(r.Body) { // JSON, unless the caller sets another Content-Type
		header["Content-Type"] = "application/json"
	}
	for name, value := range r.Headers {
		if strings.EqualFold(name, "Content-Type") {
			name = "Content-Type"
		}
		header[name] = value
	}
	answer, err := p.Fetcher.Fetch(ctx, fetch.Request{Method: r.Method, URL: r.URL, Header: header, Body: sent(r.Body), Trusted: g.Trusted})
	switch {
	case errors.Is(err, fetch.ErrRequest):
		return ProxyAnswer{}, fault.New(fault.Invalid, codeInvalid, "the request cannot be sent: a header or the URL is malformed").Because(err)
	case errors.Is(err, fetch.ErrPrivate):
		return ProxyAnswer{}, unrecognised.Because(err)
	case err != nil:
		return ProxyAnswer{}, fault.New(fault.Unavailable, codeFailed, "the gateway did not answer").Because(err)
	}
	out := ProxyAnswer{StatusCode: answer.Status, Headers: make(map[string]string, len(answer.Header)), Body: shown(answer.Body)}
	for name, values := range answer.Header { // some headers occur more than once
		out.Headers[name] = strings.Join(values, ", ")
	}
	return out, nil
}

// named reports whether the Host header, if there is one, names a known gateway: one
// address may serve more than gateways.
func named(known []Gateway, headers map[string]string) bool {
	for name, value := range headers {
		if !strings.EqualFold(name, "Host") {
			continue
		}
		host, err := url.Parse("http://" + value)
		if err != nil || hostOf(host) == "" || !slices.ContainsFunc(known, func(g Gateway) bool {
			at, err := url.Parse(g.URL)
			return err == nil && hostOf(at) == hostOf(host)
		}) {
			return false
		}
	}
	return true
}

var unrecognised = fault.New(fault.Denied, codeUnknown, "Provided URL is not a recognised gateway URL").At("url")

// sent returns the bytes of a body to send.
func sent(body json.RawMessage) []byte {
	if doc.IsNull(body) {
		return nil
	}
	if len(body) > 0 && body[0] == '"' {
		if text, err := doc.Unquote(body); err == nil {
			return []byte(text)
		}
	}
	return body
}

// maxDepth is how deep a JSON response may be nested to be passed on as JSON.
const maxDepth = 128

// shown returns a body as a JSON value.
func shown(body []byte) json.RawMessage {
	switch {
	case len(body) == 0:
		return json.RawMessage(`""`)
	case doc.Check(body, maxDepth) == nil:
		return body
	}
	return doc.AppendString(nil, strings.ToValidUTF8(string(body), "\ufffd"))
}
