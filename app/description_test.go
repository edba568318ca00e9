package app_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
)

// description is what these tests read of the API description, and nothing else: what
// clients know.
type description struct {
	Paths      map[string]map[string]describedOperation
	Components struct {
		Schemas, Responses map[string]json.RawMessage
	}
	Resources []describedResource `json:"x-resources"`
}

type describedOperation struct {
	ID         string `json:"operationId"`
	Permission struct {
		Callers      []string
		Group, Level string
		Own          string
		Needs        []struct {
			Group, Level string
			Parameters   []string
		}
	} `json:"x-permission"`
	List      *describedList             `json:"x-list"`
	Responses map[string]json.RawMessage `json:"responses"`
}

type describedList struct {
	Items string
	Page  struct{ Parameter, Everything string }

	Filters []struct {
		Parameter, By string
		Members       []string
	}
	Sort struct {
		Parameter string
		Values    []struct {
			Value, Member string
			Descending    bool
		}
	}
}

type describedResource struct {
	Name, Surface, Path, ID, Label, Parameter string
	Operations                                map[string]string
	Links                                     []struct{ Member, Kind, Resource string }
}

func readDescription(t testing.TB, a *app.App) (d description) {
	t.Helper()
	if err := json.Unmarshal(describe(t, a), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// each calls a function with every operation, in order of paths.
func (d *description) each(fn func(path, method string, o describedOperation)) {
	for _, path := range sortedKeys(d.Paths) {
		for _, method := range sortedKeys(d.Paths[path]) {
			fn(path, method, d.Paths[path][method])
		}
	}
}

func sortedKeys[V any](m map[string]V) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// resolve follows a reference and reads what is there.
func (d *description) resolve(text json.RawMessage) (v map[string]json.RawMessage) {
	for range 20 {
		v = nil
		_ = json.Unmarshal(text, &v)
		var ref string
		if json.Unmarshal(v["$ref"], &ref) != nil {
			break
		}
		kind, name, _ := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
		text = map[string]map[string]json.RawMessage{"schemas": d.Components.Schemas, "responses": d.Components.Responses}[kind][name]
	}
	return v
}

// answer returns the schema of what an operation answers in JSON.
func (d *description) answer(o describedOperation) map[string]json.RawMessage {
	content := d.resolve(d.resolve(o.Responses["200"])["content"])
	return d.resolve(d.resolve(content["application/json"])["schema"])
}

// TestDescribedItems: every list of records says what its items look like, and every
// resource that can be listed says where its items have their identifiers.
func TestDescribedItems(t *testing.T) {
	d := readDescription(t, service(t, nobodyWatches(), portalOptions()...))
	lists := map[string]bool{}
	d.each(func(_, _ string, o describedOperation) {
		if len(o.Permission.Callers) == 0 {
			t.Errorf("%s does not say who may call it", o.ID)
		}
		schema := d.answer(o)
		if schema["items"] != nil && len(d.resolve(schema["items"])) == 0 {
			t.Errorf("%s does not say what its items look like", o.ID)
		}
		if o.List == nil {
			return
		}
		lists[o.ID] = true
		if o.List.Items != "" {
			schema = d.resolve(d.resolve(schema["properties"])[o.List.Items])
		}
		if schema["items"] == nil || len(d.resolve(schema["items"])) == 0 {
			t.Errorf("%s says that %q has its items, and not what these look like", o.ID, o.List.Items)
		}
	})
	named := 0
	for _, r := range d.Resources {
		list, one := r.Operations["list"], r.Operations["get"]
		if !lists[list] || one == "" || r.Parameter == "" {
			continue
		}
		if named++; r.ID == "" {
			t.Errorf("%s can be listed and fetched, and does not say which member goes into {%s}", r.Name, r.Parameter)
		}
		for _, l := range r.Links {
			if l.Member == "" || l.Kind == "" {
				t.Errorf("%s has a link to nothing: %+v", r.Name, l)
			}
		}
	}
	if named < 20 || len(lists) < 30 {
		t.Errorf("%d lists and %d resources are described", len(lists), named)
	}
}

// trial holds lists against what the description says of them.
type trial struct {
	t     *testing.T
	d     description
	a     http.Handler
	tried map[string]bool // "operation parameter" or "operation parameter=value": what made a difference
}

// all asks for a list without filters, as a request did that listed it. If it is to be had
// with those of the request only, or only as another list of the resource, base is what the
// parameters of the request are.
func (x *trial) all(r *http.Request, o describedOperation) (all []map[string]any, base url.Values, ok bool) {
	if all, ok = x.list(r, nil, o.List, "", ""); ok {
		return all, nil, true
	}
	group, _, _ := strings.Cut(o.ID, ".")
	x.d.each(func(path, _ string, other describedOperation) {
		if other.List != nil && other.ID == group+".list" && other.ID != o.ID && !strings.Contains(path, "{") {
			whole := r.Clone(r.Context())
			whole.URL.Path, whole.URL.RawPath = path, ""
			all, ok = x.list(whole, nil, other.List, "", "")
		}
	})
	if ok {
		return all, nil, true
	}
	base = r.URL.Query()
	all, ok = x.list(r, base, o.List, "", "")
	return all, base, ok
}

// list asks for all items of a list with a parameter, as a request did that listed it.
func (x *trial) list(r *http.Request, base url.Values, l *describedList, name, value string) (items []map[string]any, ok bool) {
	again := r.Clone(r.Context())
	q := url.Values{}
	for name, values := range base {
		q[name] = values
	}
	if l.Page.Parameter != "" {
		q.Set(l.Page.Parameter, l.Page.Everything)
	}
	if name != "" {
		q.Set(name, value)
	}
	again.URL.RawQuery, again.Body = q.Encode(), http.NoBody
	for _, h := range []string{"If-Match", "If-None-Match", "Accept", "Accept-Encoding"} {
		again.Header.Del(h)
	}
	w := httptest.NewRecorder()
	x.a.ServeHTTP(w, again)
	text := w.Body.Bytes()
	if l.Items != "" {
		var object map[string]json.RawMessage
		_ = json.Unmarshal(text, &object)
		text = object[l.Items]
	}
	return items, w.Code == 200 && json.Unmarshal(text, &items) == nil
}

// values returns the values that an item has at a path: of a list its entries, of an
// object its names.
func values(item any, path string) (out []any) {
	for name := range strings.SplitSeq(path, ".") {
		o, _ := item.(map[string]any)
		item = o[name]
	}
	switch v := item.(type) {
	case nil:
	case []any:
		out = v
	case map[string]any:
		for _, name := range sortedKeys(v) {
			out = append(out, name)
		}
	default:
		out = []any{v}
	}
	return out
}

func said(v any) string {
	if n, ok := v.(float64); ok {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprint(v)
}

// fits reports whether an item belongs into a list with a filter.
func fits(item map[string]any, by, value string, members []string) bool {
	for _, m := range members {
		for _, v := range values(item, m) {
			switch text := said(v); by {
			case "part":
				if strings.Contains(strings.ToLower(text), strings.ToLower(value)) {
					return true
				}
			case "holds":
				return v == true
			default:
				if text == value {
					return true
				}
			}
		}
	}
	return false
}

// wanted returns values for a filter that are worth a try.
func wanted(all []map[string]any, by string, members []string) (out []string) {
	if by == "holds" {
		return []string{"1"}
	}
	if by == "part" {
		out = append(out, "what no item says")
	}
	for _, m := range members {
		for _, item := range all {
			for _, v := range values(item, m) {
				if text := said(v); text != "" && !strings.Contains(text, ",") && !slices.Contains(out, text) && len(out) < 6 {
					out = append(out, text)
				}
			}
		}
	}
	return out
}

// filters tries the filters of a list.
func (x *trial) filters(r *http.Request, base url.Values, o describedOperation, all []map[string]any) {
	for _, f := range o.List.Filters {
		if key := o.ID + " " + f.Parameter; len(f.Members) == 0 || x.tried[key] {
			continue
		} else if f.By == "from" || f.By == "to" {
			x.tried[key] = x.bounded(r, base, o, f.Parameter, f.By, all)
			continue
		}
		for _, value := range wanted(all, f.By, f.Members) {
			got, ok := x.list(r, base, o.List, f.Parameter, value)
			if !ok {
				continue // the value is refused: it is that of another record
			}
			kept := map[string]bool{}
			for _, item := range got {
				if kept[fmt.Sprint(item)] = true; !fits(item, f.By, value, f.Members) {
					x.t.Errorf("%s?%s=%s lists what does not fit: %.200v", r.URL.Path, f.Parameter, value, item)
				}
			}
			for _, item := range all {
				if f.By != "part" && fits(item, f.By, value, f.Members) && !kept[fmt.Sprint(item)] {
					x.t.Errorf("%s?%s=%s leaves out what fits: %.200v", r.URL.Path, f.Parameter, value, item)
				}
			}
			if len(got) < len(all) {
				x.tried[o.ID+" "+f.Parameter] = true
			}
		}
	}
}

// bounded tries a bound that is far away, in either direction.
func (x *trial) bounded(r *http.Request, base url.Values, o describedOperation, param, by string, all []map[string]any) bool {
	past, future := []string{"1999-01-01", "915148800"}, []string{"2999-01-01", "32472144000"}
	if by == "to" {
		past, future = future, past
	}
	if own := base.Get(param); own != "" { // some lists have a longest period
		past = []string{own}
	}
	count := func(dates []string) int {
		for _, date := range dates {
			if got, ok := x.list(r, base, o.List, param, date); ok {
				return len(got)
			}
		}
		return 0 // refused: the other bound lies on the wrong side of it
	}
	if n, none := count(past), count(future); n != len(all) || none != 0 {
		x.t.Errorf("%s?%s: %d of %d items with a wide bound, %d with a narrow one", r.URL.Path, param, n, len(all), none)
		return false
	}
	return len(all) > 0
}

// orders tries the orders of a list.
func (x *trial) orders(r *http.Request, o describedOperation, all []map[string]any) {
	for _, v := range o.List.Sort.Values {
		if len(all) < 2 {
			return
		}
		got, ok := x.list(r, nil, o.List, o.List.Sort.Parameter, v.Value)
		if !ok || len(got) != len(all) {
			x.t.Errorf("%s?%s=%s lists %d of %d items", r.URL.Path, o.List.Sort.Parameter, v.Value, len(got), len(all))
			continue
		}
		for i := 1; i < len(got) && v.Member != ""; i++ {
			a, b := values(got[i-1], v.Member), values(got[i], v.Member)
			if v.Descending {
				a, b = b, a
			}
			if len(a) != 1 || len(b) != 1 {
				continue
			}
			c := cmp.Compare(strings.ToLower(said(a[0])), strings.ToLower(said(b[0])))
			if n, number := a[0].(float64); number {
				c = cmp.Compare(n, b[0].(float64))
			}
			if c > 0 {
				x.t.Errorf("%s?%s=%s has %v before %v", r.URL.Path, o.List.Sort.Parameter, v.Value, a[0], b[0])
			}
			if c != 0 {
				x.tried[o.ID+" "+v.Value] = true
			}
		}
	}
}

// find returns the operation of a request: of several that fit, the most literal one.
func (d *description) find(r *http.Request) (found describedOperation) {
	segments, best := strings.Split(r.URL.EscapedPath(), "/"), -1
	d.each(func(path, method string, o describedOperation) {
		template := strings.Split(path, "/")
		if !strings.EqualFold(method, r.Method) || len(template) != len(segments) {
			return
		}
		same := 0
		for i, s := range template {
			if s == segments[i] {
				same++
			} else if !strings.HasPrefix(s, "{") {
				return
			}
		}
		if same > best {
			best, found = same, o
		}
	})
	return found
}

// TestDescribedFilters: whatever transcripts list is listed again with every filter and in
// every order that the description has. A list has what fits, and nothing else.
func TestDescribedFilters(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txt")
	more, err2 := filepath.Glob("testdata/wire/portal/*.txt")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	tried, d := map[string]bool{}, readDescription(t, service(t, nobodyWatches(), portalOptions()...))
	for _, file := range append(files, more...) {
		name := strings.TrimPrefix(filepath.ToSlash(file), "testdata/wire/")
		t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			a := service(t, nobodyWatches(), append(switches(name), withTraffic(t, name)...)...)
			x := &trial{t: t, d: d, a: a, tried: tried}
			replay(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				a.ServeHTTP(w, r)
				if o := d.find(r); o.List != nil && r.Method == http.MethodGet {
					if all, base, ok := x.all(r, o); ok {
						x.filters(r, base, o, all)
						x.orders(r, o, all)
					}
				}
			}), string(text))
		})
	}
	d.each(func(_, _ string, o describedOperation) {
		if o.List == nil {
			return
		}
		for _, f := range o.List.Filters {
			if len(f.Members) > 0 && !tried[o.ID+" "+f.Parameter] {
				t.Errorf("%s: no transcript lists what %s tells apart", o.ID, f.Parameter)
			}
		}
	})
	t.Logf("%d filters and orders made a difference", len(tried))
}
