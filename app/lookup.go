package app

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// get returns what the caller of as would get from a GET of path, without credentials:
// the authors of rules could read them, in what rules say or change.
func (a *App) get(ctx context.Context, as *operation.Call, path string) (_ any, err error) {
	path, query, _ := strings.Cut(path, "?")
	o, values := a.find("GET", path)
	if o == nil || o.Surface != operation.Management || !as.Principal.Permissions.Allows(o.Permission, access.Read) {
		return nil, fault.New(fault.NotFound, "path.unknown", "nothing can be read at %q", path)
	}
	c := *as
	c.Spec, c.Method, c.RawPath, c.Path, c.Body, c.RawQuery, c.Header = &o.Spec, o.Method, path, values, nil, query, nil
	c.Query, c.Garbled = operation.ReadQuery(query)
	c.Unsettle()
	v, err := o.Do(ctx, &c)
	if err != nil {
		return nil, err
	}
	text, err := httpadapter.Text(o, v)
	if err != nil {
		return nil, err
	}
	var plain any
	err = json.Unmarshal(text, &plain)
	blank(plain, slices.Concat([]string{"access_key"}, o.Redact, o.Unseen))
	return plain, err
}

// blank empties the texts of members with one of the names, at any depth.
func blank(v any, names []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if _, text := inner.(string); text && slices.Contains(names, name) {
				v[name] = ""
			} else {
				blank(inner, names)
			}
		}
	case []any:
		for _, inner := range v {
			blank(inner, names)
		}
	}
}

// class returns the class of the API that a call names or, when it names none, of the
// one that it makes.
func (a *App) class(ctx context.Context, as *operation.Call) string {
	if id := as.Path["apiId"]; id != "" {
		var found apidef.Class
		err := a.store.View(ctx, as.Scope, func(r store.Reader) error {
			v, err := apis.Kind.Get(ctx, r, id)
			found = v.Value.Class()
			return err
		})
		if err != nil {
			return ""
		}
		return string(found)
	}
	for prefix, class := range map[string]apidef.Class{
		"apis.oas.": apidef.OAS, "apis.streams.": apidef.Streams, "mcps.create": apidef.MCP, "apis.create": apidef.Classic,
	} {
		if strings.HasPrefix(as.Spec.ID, prefix) {
			return string(class)
		}
	}
	return ""
}

// find returns the row of a request: the one with the most literal segments.
func (a *App) find(method, path string) (found *operation.Operation, values map[string]string) {
	segs, most := strings.Split(strings.Trim(path, "/"), "/"), -1
	for i := range a.table {
		o := &a.table[i]
		if v, literal, ok := matches(o.Path, o.Tail, segs); ok && (o.Method == method || method == "HEAD" && !o.ChangesState()) && literal > most {
			found, values, most = o, v, literal
		}
	}
	return found, values
}

func matches(pattern string, tail bool, segs []string) (values map[string]string, literal int, ok bool) {
	want := strings.Split(strings.Trim(pattern, "/"), "/")
	if n := len(want); tail && len(segs) > n {
		segs = append(slices.Clone(segs[:n-1]), strings.Join(segs[n-1:], "/"))
	}
	if len(want) != len(segs) {
		return nil, 0, false
	}
	values = map[string]string{}
	for i, w := range want {
		if name, placeholder := operation.Placeholder(w); placeholder {
			values[name] = segs[i]
		} else if w == segs[i] {
			literal++
		} else {
			return nil, 0, false
		}
	}
	return values, literal, true
}
