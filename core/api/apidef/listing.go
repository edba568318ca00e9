package apidef

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unique"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Filter selects APIs of a list; its conditions combine with AND, the values of
// one condition with OR (docs/wire/apis.md#lists).
type Filter struct {
	Text       string // part of the name or the listen path, in any case
	Type       string // tcp, rest, graphql (graph), udg, subgraph, supergraph, internal, streams
	Categories []string
	AuthTypes  []string
	Tags       []string
	Hide       map[string]bool // API IDs to leave out: child versions
}

// Everything reports whether the filter matches all APIs.
func (f Filter) Everything() bool {
	return f.Text == "" && f.Type == "" && len(f.Categories)+len(f.AuthTypes)+len(f.Tags)+len(f.Hide) == 0
}

// graphTypes maps a list type to its execution modes.
var graphTypes = map[string][]string{
	"graphql": {"proxyOnly"}, "udg": {"executionEngine"}, "subgraph": {"subgraph"}, "supergraph": {"supergraph"},
	"graph": {"proxyOnly", "executionEngine", "subgraph", "supergraph"},
}

// Codes of the faults of a list.
const (
	CodeType = Kind + ".type"
	CodeSort = Kind + ".sort"
)

// CheckType returns a fault for an unknown api_type.
func CheckType(name string) error {
	if _, ok := graphTypes[name]; ok || slices.Contains([]string{"", "tcp", "rest", "internal", "streams"}, name) {
		return nil
	}
	return fault.New(fault.Invalid, CodeType, "api_type must be one of tcp, rest, graphql, udg, subgraph, supergraph, internal, streams").At("api_type")
}

// Listed is the values of an API that lists filter and sort by. It holds no text of the API,
// and values that many APIs share are in memory once: with 100,000 APIs, scattered memory
// makes the processor wait.
type Listed struct {
	id               string
	apiID            unique.Handle[string]
	sought           string // the text that searches look in: name and listen path, in lower case
	created, updated time.Time
	traits           unique.Handle[traits]
	auth, tags       doc.Texts
	marks            doc.Texts
	rare             *rare // nil: the API has none of it
}

// traits are values that many APIs share.
type traits struct {
	class         Class
	tcp, internal bool
	graphql       string // execution mode
}

// rare is values that few APIs have.
type rare struct{ users, groups, children []string }

// Listed returns the values that lists use.
func (a API) Listed() Listed {
	l := Listed{
		id: a.id, apiID: unique.Make(a.APIID()), sought: strings.ToLower(a.facts.name + "\n" + a.facts.listenPath), created: a.created, updated: a.updated,
		traits: unique.Make(traits{a.class, a.facts.protocol == "tcp" || a.facts.protocol == "tls", a.facts.internal, a.facts.graphql}),
		auth:   doc.Intern(a.AuthTypes()), tags: doc.Intern(a.Tags()), marks: doc.Intern(a.Categories()),
	}
	r := rare{children: a.ChildIDs()}
	if r.users, r.groups = a.Owners(); len(r.users)+len(r.groups)+len(r.children) > 0 {
		l.rare = &r
	}
	return l
}

// APIID returns the identifier that keys, policies and gateways use.
func (l *Listed) APIID() string { return l.apiID.Value() }

// Handle is APIID for comparisons with many others.
func (l *Listed) Handle() unique.Handle[string] { return l.apiID }

// IsMCP reports whether the API is an MCP proxy.
func (l *Listed) IsMCP() bool { return l.traits.Value().class == MCP }

// Categories returns the categories of the API.
func (l *Listed) Categories() doc.Texts { return l.marks }

// AuthTypes returns the methods of authentication.
func (l *Listed) AuthTypes() doc.Texts { return l.auth }

// ChildIDs returns the API IDs of child versions.
func (l *Listed) ChildIDs() []string {
	if l.rare == nil {
		return nil
	}
	return l.rare.children
}

// VisibleTo reports whether a viewer may see the API, as an owner or because owners do not
// matter.
func (l *Listed) VisibleTo(v Viewer) bool {
	return l.rare == nil || v.sees(l.rare.users, l.rare.groups)
}

// OwnedBy reports whether the viewer, or a group that the viewer is in, is an owner of the API.
func (l *Listed) OwnedBy(v Viewer) bool {
	v.All = false
	return l.rare != nil && len(l.rare.users)+len(l.rare.groups) > 0 && v.sees(l.rare.users, l.rare.groups)
}

func (t traits) isType(name string) bool {
	switch name {
	case "":
		return true
	case "tcp":
		return t.tcp
	case "internal":
		return t.internal
	case "streams":
		return t.class == Streams
	case "rest":
		return !t.tcp && t.graphql == "" && t.class != Streams
	}
	return slices.Contains(graphTypes[name], t.graphql)
}

// Sought returns a pointer to the text that Filter.Text is searched in, in lower case.
func (l *Listed) Sought() *string { return &l.sought }

// Admits returns a function that reports whether an API matches the filter. It is not safe for
// concurrent use.
func (f Filter) Admits() func(*Listed) bool {
	text := strings.ToLower(f.Text)
	marks, auth, tags := doc.Overlap(f.Categories), doc.Overlap(f.AuthTypes), doc.Overlap(f.Tags)
	return func(l *Listed) bool {
		return strings.Contains(l.sought, text) && l.traits.Value().isType(f.Type) && marks(l.marks) && auth(l.auth) && tags(l.tags) &&
			(len(f.Hide) == 0 || !f.Hide[l.APIID()])
	}
}

// orders are the comparisons by which a list can be sorted.
var orders = map[string]func(a, b *Listed) int{
	"name":       func(a, b *Listed) int { return cmp.Compare(a.sought, b.sought) },
	"created_at": func(a, b *Listed) int { return a.created.Compare(b.created) },
	"updated_at": func(a, b *Listed) int { return a.updated.Compare(b.updated) },
}

// Orders returns the names of the sort keys of a list.
func Orders() []string { return slices.Sorted(maps.Keys(orders)) }

// Order returns the comparison for a sort parameter such as -created_at, which is also the
// default. Equal APIs are sorted by ID.
func Order(sort string) (func(a, b *Listed) int, error) {
	name, down := strings.CutPrefix(cmp.Or(sort, "-created_at"), "-")
	by, ok := orders[name]
	if !ok {
		return nil, fault.New(fault.Invalid, CodeSort, "sort must be one of name, created_at, updated_at, with - in front for descending").At("sort")
	}
	return func(a, b *Listed) int {
		if down {
			a, b = b, a
		}
		if order := by(a, b); order != 0 {
			return order
		}
		return cmp.Compare(a.id, b.id)
	}, nil
}

// Sequence returns the sort key of the API in the list of its family, by time of creation,
// oldest first. MCP proxies have a list of their own.
func (a API) Sequence() string {
	return Family(a.class) + a.created.UTC().Format("2006-01-02T15:04:05.000000000Z")
}

// Family returns the common prefix of the Sequence of all APIs in one list.
func Family(c Class) string {
	if c == MCP {
		return "mcp\x00"
	}
	return "api\x00"
}

// View is an API as classic endpoints show it: the wrapper.
type View struct {
	api     API
	compact bool
}

// View returns the wrapper of the API. With compact, it has a shorter definition and no
// document.
func (a API) View(compact bool) View { return View{a, compact} }

// SchemaName returns the name of the wrapper in the API description.
func (View) SchemaName() string { return "API" }

// Schema returns the JSON schema of the wrapper for the API description.
func (View) Schema() map[string]any {
	plain := func(name string) map[string]any { return map[string]any{"type": name} }
	texts := map[string]any{"type": "array", "items": plain("string")}
	time := map[string]any{"type": "string", "format": "date-time", "readOnly": true}
	definition := classic.Type().Schema()
	definition["type"] = "object"
	return map[string]any{"type": "object", "required": []string{"api_definition"}, "properties": doc.Fields{
		{Name: "api_definition", Value: definition}, {Name: "oas", Value: plain("object")},
		{Name: "hook_references", Value: map[string]any{"type": "array", "items": plain("object")}},
		{Name: "is_site", Value: plain("boolean")}, {Name: "sort_by", Value: plain("integer")},
		{Name: "user_owners", Value: texts}, {Name: "user_group_owners", Value: texts}, {Name: "categories", Value: texts},
		{Name: "created_at", Value: time}, {Name: "updated_at", Value: time},
		{Name: "api_model", Value: plain("object")}, {Name: "is_streams", Value: plain("boolean")},
	}}
}

// compactMembers are the members of a definition that a compact list shows. Some of them are
// always shown, with a default if the definition lacks them.
var (
	compactMembers = []string{
		"id", "api_id", "org_id", "name", "slug", "active", "internal", "is_oas", "domain", "domain_disabled", "protocol", "tags", "tags_disabled",
		"use_keyless", "use_standard_auth", "enable_jwt", "use_basic_auth", "use_oauth2", "enable_signature_checking", "use_openid",
		"use_mutual_tls_auth", "custom_plugin_auth_enabled", "enable_coprocess_auth", "use_go_plugin_auth", "expiration", "definition",
	}
	compactAlways = map[string]string{
		"slug": `""`, "active": "false", "is_oas": "false", "domain": `""`, "tags": "[]",
		"use_keyless": "false", "use_standard_auth": "false", "enable_jwt": "false", "use_basic_auth": "false", "use_oauth2": "false",
		"enable_signature_checking": "false", "use_openid": "false", "use_mutual_tls_auth": "false",
	}
)

// Size returns the approximate size of the wrapper in bytes.
func (v View) Size() int {
	if v.compact {
		return 0
	}
	return v.api.Size()
}

// AppendJSON implements doc.Appender.
func (v View) AppendJSON(b []byte) ([]byte, error) {
	var definition, document []byte
	if v.compact {
		short, err := v.api.short()
		if err != nil {
			return nil, err
		}
		definition = short
	} else {
		definition, document = v.api.shown(), v.api.document
	}
	b = append(append(b, `{"api_definition":`...), definition...)
	if document != nil {
		b = append(append(b, `,"oas":`...), document...)
	}
	b = v.api.appendWrapper(b)
	for _, m := range []struct{ name, empty string }{
		{"hook_references", "[]"}, {"is_site", "false"}, {"sort_by", "0"}, {"user_owners", "[]"}, {"user_group_owners", "[]"}, {"categories", "[]"},
	} {
		if _, ok := v.api.wrapper.Get(m.name); !ok {
			b = append(append(append(append(b, `,"`...), m.name...), `":`...), m.empty...)
		}
	}
	b = append(v.api.appendTimes(b), `,"api_model":{}`...)
	b = strconv.AppendBool(append(b, `,"is_streams":`...), v.api.class == Streams)
	return append(b, '}'), nil
}

// MarshalJSON implements json.Marshaler.
func (v View) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// shown returns the definition as users read it. It is cached in the API, because lists need
// it often and building it takes longer than everything else.
func (a API) shown() []byte {
	if text := a.facts.shown.Load(); text != nil {
		return *text
	}
	text := []byte(a.definition)
	if def, err := doc.ParseNode(text); err == nil {
		classic.Show(def)
		text = def.JSON()
	}
	a.facts.shown.Store(&text)
	return text
}

// short returns the definition for a compact list.
func (a API) short() ([]byte, error) {
	o, err := doc.LoadObject(a.definition)
	if err != nil {
		return nil, err
	}
	e := doc.Object{}.Edit()
	for _, name := range compactMembers {
		raw, ok := o.Get(name)
		if always := compactAlways[name]; always != "" && (!ok || doc.IsNull(raw)) {
			raw, ok = json.RawMessage(always), true
		}
		if ok {
			e.Set(name, raw)
		}
	}
	proxy := doc.NewObject()
	proxy.Set("listen_path", doc.NewString(a.facts.listenPath))
	proxy.Set("target_url", doc.NewString(a.facts.targetURL))
	e.Set("proxy", proxy.JSON())
	versions := doc.NewObject()
	for _, name := range a.facts.versions {
		v := doc.NewObject()
		v.Set("name", doc.NewString(name))
		versions.Put(v, "versions", name)
	}
	e.Set("version_data", versions.JSON())
	return e.Object().AppendJSON(nil)
}
