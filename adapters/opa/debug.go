package opa

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// explain logs the input and the output of a decision.
func (e *Engine) explain(ctx context.Context, c *operation.Call, in ast.Value, v rules.Verdict, err error) {
	m := &mask{secrets: map[string]bool{}, short: map[string]bool{}}
	for _, name := range c.Spec.Redact {
		m.redact = append(m.redact, redact.Fold(name[strings.LastIndexByte(name, '.')+1:]))
	}
	m.remember(c.Token)
	for name, value := range c.Path {
		if m.secret(name) {
			m.remember(value)
		}
	}
	plain, _ := ast.JSON(in) // the input consists of JSON
	if request, ok := plain.(map[string]any)["request"].(map[string]any); ok {
		request["path"] = c.Shown(m.secret)
	}
	input := m.hide(plain)
	var patch any
	if v.Patch != nil {
		_ = util.UnmarshalJSON(v.Patch, &patch) // written by marshal
		patch = m.hide(patch)
	}
	scrub, short := replacing(m.secrets), replacing(m.short)
	// If a text that rules have made contains a short secret, the whole text is hidden: rules may
	// put a secret anywhere.
	made := func(s string) string {
		if s = scrub(s); short(s) != s {
			return redact.Hidden
		}
		return s
	}
	denials := make([]any, len(v.Denials))
	for i := range denials {
		denials[i] = v.Denials[i]
	}
	attrs := []any{"operation", c.Spec.ID, "request_id", c.RequestID,
		"input", text(everywhere(input, scrub)), "denials", text(everywhere(denials, made)), "patch", text(everywhere(patch, made))}
	if err != nil {
		reason := made(err.Error())
		if reason == redact.Hidden {
			reason = discreet(err).Error()
		}
		attrs = append(attrs, "error", reason)
	}
	e.cfg.Logger.InfoContext(ctx, "rules evaluated", attrs...)
}

// text returns a value as JSON.
func text(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

// everywhere returns a copy of a JSON value with all texts in it rewritten, and also the numbers
// that rewriting changes.
func everywhere(v any, rewrite func(string) string) any {
	switch v := v.(type) {
	case string:
		return rewrite(v)
	case json.Number:
		if s := rewrite(v.String()); s != v.String() {
			return s
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[rewrite(name)] = everywhere(value, rewrite)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = everywhere(v[i], rewrite)
		}
		return out
	}
	return v
}

// mask hides the values of members that contain secrets, at any depth, and then the same values
// everywhere else: in a query, in the reason of a rule. A short value is hidden only in its own
// place.
type mask struct {
	redact  []string
	secrets map[string]bool
	short   map[string]bool // shorter than telling
}

func (m *mask) secret(name string) bool {
	return redact.Name(name) || slices.Contains(m.redact, redact.Fold(name))
}

// hide returns a copy of a JSON value without the secrets in it.
func (m *mask) hide(v any) any {
	switch v := v.(type) {
	case string:
		for _, c := range redact.Credentials(v) {
			m.remember(c)
		}
		return redact.Text(v)
	case map[string]any:
		v = m.step(v)
		out := make(map[string]any, len(v))
		for name, value := range v {
			if _, flag := value.(bool); !flag && m.secret(name) { // allow_admin_reset_password is a permission, not a secret
				m.collect(value)
				value = redact.Hidden
			}
			if redact.Headers(name) {
				value = m.hideHeaders(value, isHeader(name, value))
			}
			out[name] = m.hide(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = m.hide(v[i])
		}
		return out
	}
	return v
}

// step returns an operation of a JSON patch (RFC 6902) without its value, if its path is that of a
// secret or a header. Other objects stay as they are. Patches that cannot be applied are logged
// unchanged.
func (m *mask) step(v map[string]any) map[string]any {
	path, ok := v["path"].(string)
	value, has := v["value"]
	if !ok || !has || !strings.HasPrefix(path, "/") {
		return v
	}
	way := strings.Split(path, "/")
	if !slices.ContainsFunc(way, m.secret) && !slices.ContainsFunc(way, redact.Headers) {
		return v
	}
	m.collect(value)
	out := maps.Clone(v)
	out["value"] = redact.Hidden
	return out
}

// telling is the minimum length in bytes of a value that is also hidden elsewhere. Shorter values
// are parts of ordinary words: gaps in known words would reveal the value.
const telling = 6

// isHeader reports whether a member about headers contains header values: a text, unless the name
// of the member says that it is a header's name, or a list of header lines. Lists of names contain
// no values.
func isHeader(name string, v any) bool {
	switch v := v.(type) {
	case string:
		return !strings.HasSuffix(redact.Fold(name), "name")
	case []any:
		return slices.ContainsFunc(v, func(item any) bool {
			line, ok := item.(string)
			return ok && strings.Contains(line, ":")
		})
	}
	return false
}

// hideHeaders hides the values of headers, in an object by name and in a list of names and values,
// whatever type they have. Booleans stay. header says that v itself is the value of a header.
func (m *mask) hideHeaders(v any, header bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = m.hideHeaders(value, name != "name" && redact.Header(name))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = m.hideHeaders(v[i], header)
		}
		return out
	case string:
		if header {
			return m.hideHeader(v)
		}
	case json.Number:
		if header {
			return m.hideHeader(v.String())
		}
	}
	return v
}

// hideHeader hides the value of one header.
func (m *mask) hideHeader(text string) string {
	if len(text) >= telling { // most shorter values are not secrets
		m.remember(text)
	}
	return redact.Hidden
}

// collect records all texts and numbers inside a secret value.
func (m *mask) collect(v any) {
	switch v := v.(type) {
	case string:
		m.remember(v)
	case json.Number:
		m.remember(v.String())
	case map[string]any:
		for _, value := range v {
			m.collect(value)
		}
	case []any:
		for _, value := range v {
			m.collect(value)
		}
	}
}

// remember records a secret in the forms it can take in a path, a query and a reason: rules quote
// texts when they print an object.
func (m *mask) remember(s string) {
	if s == "" {
		return
	}
	found := m.secrets
	if len(s) < telling {
		found = m.short
	}
	for _, form := range []string{s, inner(strconv.Quote(s)), inner(text(s)), url.PathEscape(s), url.QueryEscape(s)} {
		found[form] = true
	}
}

func inner(literal string) string { return literal[1 : len(literal)-1] }

// replacing returns a function that hides secrets anywhere in a text.
func replacing(secrets map[string]bool) func(string) string {
	longest := slices.SortedFunc(maps.Keys(secrets), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	pairs := make([]string, 0, 2*len(longest))
	for _, s := range longest { // longer secrets before their parts
		pairs = append(pairs, s, redact.Hidden)
	}
	return strings.NewReplacer(pairs...).Replace
}
