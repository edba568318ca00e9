package audit

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/redact"
)

// Request is the part of a request that a record keeps. A trail keeps no bodies and no
// headers.
type Request struct {
	Method string
	Path   string // as sent, without the query
	Query  url.Values
	// Changed is a JSON object with the members that the request changed and their new values;
	// nil: the record has none.
	Changed json.RawMessage
	Masked  bool // values of the query are hidden
}

// Request returns the request of a record. ok is false if the record is not about a request,
// or if its URL was too long to be kept completely, or has secrets in its path.
func (r Record) Request() (q Request, ok bool) {
	path, query, _ := strings.Cut(r.URL, "?")
	if r.Method == "" || !strings.HasPrefix(path, "/") || len(r.URL) >= maxURL || strings.Contains(path, redact.Hidden) {
		return q, false
	}
	q = Request{Method: r.Method, Path: path, Masked: strings.Contains(query, redact.Hidden)}
	q.Query, _ = url.ParseQuery(query) // invalid parts were not used by the request either
	// The differences give the changed members, as far as the record has them.
	root := map[string]any{}
	for _, d := range r.Diff {
		if d.Subject != r.Diff[0].Subject { // with several documents, none of them is the body
			return q, true
		}
		if d.To != nil && !strings.Contains(string(d.To), redact.Hidden) {
			place(root, d.Path, d.To)
		}
	}
	if text, err := json.Marshal(root); len(root) > 0 && err == nil { // except if a difference is not JSON
		q.Changed = text
	}
	return q, true
}

var unescaped = strings.NewReplacer("~1", "/", "~0", "~")

// place sets a value at a JSON pointer, if the path is free. It ignores places in a list,
// because the rest of the list is unknown.
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
