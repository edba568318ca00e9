package opa

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// row is the part of the input that is the same for all calls of an operation.
type row struct {
	permissions, operation *ast.Term
	needs                  []need
}

// need is a further permission of an operation: rules decide about it as about the first.
type need struct {
	operation.Need
	row row
}

// makeRows returns the rows of a table by operation ID.
func makeRows(ops []operation.Operation, wholeTable bool) map[string]row {
	member := vocabulary(nil).member
	rows := make(map[string]row, len(ops))
	seen := map[string]bool{}
	var all []*ast.Term
	for i := range ops {
		o := &ops[i].Spec
		of := func(p access.Permission, i access.Intent) row {
			var own []*ast.Term
			if p != "" {
				own = append(own, ast.ObjectTerm(member("permission", string(p)), member("rx", expression(o.Path, o.Tail))))
			}
			for _, t := range own {
				if key := t.String(); !seen[key] {
					seen[key], all = true, append(all, t)
				}
			}
			return row{permissions: settled(ast.ArrayTerm(own...)), operation: settled(ast.ObjectTerm(
				member("id", o.ID), member("permission", string(p)), member("intent", string(i))))}
		}
		r := of(o.Permission, o.Intent)
		for _, n := range o.Needs {
			r.needs = append(r.needs, need{n, of(n.Permission, n.Intent)})
		}
		rows[o.ID] = r
	}
	if wholeTable {
		table := settled(ast.ArrayTerm(all...))
		for id, r := range rows {
			r.permissions = table
			rows[id] = r
		}
	}
	return rows
}

// expression returns the regular expression for the paths of a row. It ignores a trailing
// slash (docs/wire/requests.md#paths).
func expression(path string, tail bool) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if _, ok := operation.Placeholder(s); ok {
			segments[i] = "[^/]+"
			continue
		}
		segments[i] = regexp.QuoteMeta(s)
	}
	if tail {
		segments[len(segments)-1] = ".+"
	}
	return "^" + strings.Join(segments, "/") + "/?$"
}

// settled computes what a term would otherwise compute on first use, so that concurrent
// evaluations can share it.
func settled(t *ast.Term) *ast.Term {
	if t.Value != nil {
		_ = t.String()
	}
	return t
}

// vocabulary holds the terms of words that inputs repeat. Most of the cost of an input is
// making terms.
type vocabulary map[string]*ast.Term

func makeVocabulary(ops []operation.Operation) vocabulary {
	v := vocabulary{}
	for _, word := range []string{
		"", "request", "method", "path", "query", "headers", "body", "user", "id", "active", "org_id", "email_address",
		"group_id", "group_name", "user_permissions", "permissions", "config", "operation",
		string(access.LevelDeny), string(access.LevelRead), string(access.LevelWrite), string(access.LevelAdmin),
	} {
		v[word] = ast.StringTerm(word)
	}
	for i := range ops {
		for _, word := range []string{ops[i].Method, string(ops[i].Permission)} {
			v[word] = ast.StringTerm(word)
		}
	}
	return v
}

// term returns the term of a text.
func (v vocabulary) term(text string) *ast.Term {
	if t, ok := v[text]; ok {
		return t
	}
	return ast.StringTerm(text)
}

// member returns a member with a text value, item one with any value.
func (v vocabulary) member(name, value string) [2]*ast.Term { return v.item(name, v.term(value)) }

func (v vocabulary) item(name string, value *ast.Term) [2]*ast.Term {
	return ast.Item(v.term(name), value)
}

// input builds the input document (docs/wire/rules.md#input) from terms: a conversion
// through JSON would cost as much as the decision.
func (e *Engine) input(c *operation.Call, r row, body []byte) ast.Value {
	w := e.words
	query := make([][2]*ast.Term, 0, len(c.Query))
	for name, values := range c.Query { // without credentials
		if slices.Contains(c.Spec.Unseen, name) || redact.Name(name) {
			continue
		}
		terms := make([]*ast.Term, len(values))
		for i, value := range values {
			terms[i] = w.term(value)
		}
		query = append(query, w.item(name, ast.ArrayTerm(terms...)))
	}
	headers := make([][2]*ast.Term, 0, len(c.Header))
	for name, value := range c.Header {
		if !redact.Name(name) {
			headers = append(headers, w.member(name, value))
		}
	}
	request := ast.NewObject(
		w.member("method", c.Verb()), w.member("path", shownPath(c)),
		w.item("query", ast.ObjectTerm(query...)), w.item("headers", ast.ObjectTerm(headers...)),
	)
	if body != nil && c.Spec.Method != "GET" && c.Spec.Method != "HEAD" {
		// A body that is not JSON is left out: the operation refuses it later.
		if v, err := ast.ValueFromReader(bytes.NewReader(body)); err == nil {
			request.Insert(w.term("body"), ast.NewTerm(seen(c, v)))
		}
	}
	p := &c.Principal
	entries := make([][2]*ast.Term, 0, len(p.Permissions))
	for group, level := range p.Permissions {
		entries = append(entries, w.member(group, string(level)))
	}
	user := ast.ObjectTerm(
		w.member("id", p.ID), w.item("active", ast.InternedTerm(p.Active)), w.member("org_id", string(p.OrgID)),
		w.member("email_address", p.Email), w.member("group_id", p.GroupID), w.member("group_name", p.GroupName),
		w.item("user_permissions", ast.ObjectTerm(entries...)),
	)
	return ast.NewObject(
		w.item("request", ast.NewTerm(request)), w.item("user", user),
		w.item("permissions", r.permissions), w.item("config", e.config), w.item("operation", r.operation),
	)
}

// shownPath returns the path of a call as rules see it: as it was sent, but normalised, so
// that a rule about the path does not depend on how a caller spells it
// (docs/wire/rules.md#input).
func shownPath(c *operation.Call) string {
	path := c.RawPath
	if len(c.Spec.Unseen) > 0 {
		path = c.Shown(func(name string) bool { return slices.Contains(c.Spec.Unseen, name) })
	}
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	for i, s := range segments {
		if plain, err := url.PathUnescape(s); err == nil && s != redact.Hidden {
			segments[i] = url.PathEscape(plain)
		}
	}
	return strings.Join(segments, "/")
}

// seen returns a body without the members that rules must not see.
func seen(c *operation.Call, body ast.Value) ast.Value {
	whole, ok := body.(ast.Object)
	if !ok || len(c.Spec.Unseen) == 0 {
		return body
	}
	out := ast.NewObject()
	whole.Foreach(func(name, value *ast.Term) {
		if text, ok := name.Value.(ast.String); !ok || !slices.Contains(c.Spec.Unseen, string(text)) {
			out.Insert(name, value)
		}
	})
	return out
}
