package audit

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/redact"
)

// Request is what a record keeps of the request that it tells of. A trail keeps no
// bodies and no headers.
type Request struct {
	Method string
	Path   string // as it was sent, without the query
	Query  url.Values
	// Changed holds, as a JSON object, the members that the request changed, with their
	// values afterwards; nil: the record names none.
	Changed json.RawMessage
	Masked  bool // values of the query are hidden
}

// Request returns the request that a record tells of. ok is false when the record tells
// of something else, or when its address was too long to be kept whole, or holds secrets
// in its path.
func (r Record) Request() (q Request, ok bool) {
	path, query, _ := strings.Cut(r.URL, "?")
	if r.Method == "" || !strings.HasPrefix(path, "/") || len(r.URL) >= maxURL || strings.Contains(path, redact.Hidden) {
		return q, false
	}
	q = Request{Method: r.Method, Path: path, Masked: strings.Contains(query, redact.Hidden)}
	q.Query, _ = url.ParseQuery(query) // what cannot be read was not read then either
	// What changed is the differences, as far as they are told.
	root := map[string]any{}
	for _, d := range r.Diff {
		if d.Subject != r.Diff[0].Subject { // of several documents none is the body
			return q, true
		}
		if d.To != nil && !strings.Contains(string(d.To), redact.Hidden) {
			place(root, d.Path, d.To)
		}
	}
	if text, err := json.Marshal(root); len(root) > 0 && err == nil { // unless a difference is no JSON
		q.Changed = text
	}
	return q, true
}

var unescaped = strings.NewReplacer("~1", "/", "~0", "~")

// place puts a value where a JSON pointer says, if nothing is in the way. A place in a list
// says nothing about the rest of the list.
func place(at map[string]any, path string, value json.RawMessage) {
	names := strings.Split(path, "/")
	if names[0] != "" || len(names) < 2 || len(path) >= maxPath {
		return
	}
	for _, name := range names[1:] {
		if _, err := strconv.Atoi(name); err == nil {
			return
		}
	}
	last := len(names) - 1
	for _, name := range names[1:last] {
		name = unescaped.Replace(name)
		inner, ok := at[name].(map[string]any)
		if !ok {
			if _, taken := at[name]; taken {
				return
			}
			inner = map[string]any{}
			at[name] = inner
		}
		at = inner
	}
	if name := unescaped.Replace(names[last]); at[name] == nil {
		at[name] = value
	}
}
