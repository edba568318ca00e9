// Package caps is the only list of how many entries a client may put into a resource. Every
// entry may become a row of an index, a reference or a record, which the single writer stores
// while others wait. The limits are far above existing configurations.
package caps

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Cap is the maximum number of members or items in a field.
type Cap struct {
	Field string // members joined with dots; * stands for each member or item
	Most  int
}

// List is the caps of one kind of resource.
type List struct {
	Kind  string // as in fault codes
	Title string // of the resource, in messages
	Caps  []Cap
}

// The lists.
var (
	Policy = &List{"policy", "policy", []Cap{
		{"access_rights", 5_000},
		{"access_rights_array", 5_000},
		{"access_rights.*.versions", 1_000},
		{"tags", 1_000},
	}}
	// Key is for the session of a key, because each of its policies is looked up.
	Key = &List{"key", "key", []Cap{
		{"access_rights", 5_000},
		{"access_rights.*.versions", 1_000},
		{"apply_policies", 100},
		{"mtls_static_certificate_bindings", 100},
		{"tags", 1_000},
		{"meta_data", 1_000},
		{"oauth_keys", 1_000},
		{"monitor.trigger_limits", 100},
	}}
	// Definition is for the classic form of an API of any class.
	Definition = &List{"api", "API", []Cap{
		{"version_data.versions", 1_000},
		{"definition.versions", 1_000},
		{"tags", 1_000},
		{"event_handlers.events", 1_000},
		{"event_handlers.events.*", 1_000}, // each may become a copy of a webhook
		{"jwt_default_policies", 1_000},
		{"jwt_scope_to_policy_mapping", 10_000},
		{"scopes", 100},
		{"scopes.*.scope_to_policy", 10_000},
	}}
	// Wrapper is for the members beside a definition.
	Wrapper = &List{"api", "API", []Cap{
		{"hook_references", 1_000},
		{"categories", 1_000},
		{"user_owners", 1_000},
		{"user_group_owners", 1_000},
	}}
	ClientIdP = &List{"clientidp", "client idp", []Cap{
		{"api_mappings", 20_000},
		{"api_mappings.*.scope_to_policy", 1_000},
	}}
	Organisation = &List{"organisation", "organisation", []Cap{
		{"apis", 10_000},
		{"event_options", 100},
		{"additional_permissions", 200},
	}}
	User = &List{"user", "user", []Cap{
		{"user_permissions", 1_000},
		{"group_ids", 100},
	}}
	ServiceAccount = &List{"serviceaccount", "service account", []Cap{
		{"user_permissions", 1_000},
		{"group_ids", 100},
		{"keys", 20},
		{"permissions", 100},
	}}
	UserGroup = &List{"usergroup", "user group", []Cap{
		{"user_permissions", 1_000},
	}}
	// Import is for requests that store many resources at once.
	Import = &List{"import", "import", []Cap{
		{"apis", 10_000},
		{"Data", 10_000},
	}}
)

// inAll are fields with one limit for the total of all their places.
var inAll = map[string]bool{"event_handlers.events.*": true}

// Lists returns every list, for documentation.
func Lists() []*List {
	return []*List{Policy, Key, Definition, Wrapper, ClientIdP, User, UserGroup, ServiceAccount, Organisation, Import}
}

// Check returns a fault for the first field of a document with too many entries, or nil.
func (l *List) Check(document *doc.Node) error {
	for _, c := range l.Caps {
		before := 0
		for field, n := range reach(document, strings.Split(c.Field, "."), "") {
			if inAll[c.Field] {
				n += before
				before, field = n, strings.TrimSuffix(c.Field, ".*")
			}
			if n > c.Most {
				return l.exceeded(field, n, c.Most)
			}
		}
	}
	return nil
}

// Count is Check for a field with entries that have been counted already.
func (l *List) Count(field string, n int) error { return l.CountAt(field, field, n) }

// CountAt is Count for one of many places; the fault calls it at.
func (l *List) CountAt(field, at string, n int) error {
	for _, c := range l.Caps {
		if c.Field == field && n > c.Most {
			return l.exceeded(at, n, c.Most)
		}
	}
	return nil
}

func (l *List) exceeded(field string, n, most int) error {
	return fault.New(fault.Invalid, l.Kind+".too_many", "%s %s has %d entries, and may have %d", l.Title, field, n, most).At(field)
}

// reach yields the number of entries at each place that matches a path.
func reach(n *doc.Node, path []string, field string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if len(path) == 0 {
			if n.Is(doc.TypeObject, doc.TypeArray) {
				yield(field, n.Len())
			}
			return
		}
		for name, v := range step(n, path[0]) {
			for at, count := range reach(v, path[1:], strings.TrimPrefix(field+"."+name, ".")) {
				if !yield(at, count) {
					return
				}
			}
		}
	}
}

// step yields the places that match one element of a path.
func step(n *doc.Node, element string) iter.Seq2[string, *doc.Node] {
	return func(yield func(string, *doc.Node) bool) {
		switch {
		case element != "*":
			if v := n.Get(element); v != nil {
				yield(element, v)
			}
		case n.Is(doc.TypeObject):
			for name, v := range n.Members() {
				if !yield(name, v) {
					return
				}
			}
		default:
			for i, v := range n.Items() {
				if !yield(strconv.Itoa(i), v) {
					return
				}
			}
		}
	}
}

// Markdown renders the lists as a table.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| resource | field | entries at most |\n|---|---|--:|\n")
	for _, l := range Lists() {
		for _, c := range l.Caps {
			together := ""
			if inAll[c.Field] {
				together = " in all"
			}
			fmt.Fprintf(&b, "| %s | `%s` | %d%s |\n", l.Title, c.Field, c.Most, together)
		}
	}
	return b.String()
}
