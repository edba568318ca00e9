package policy

import (
	"bytes"
	"errors"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Draft is the document a client sends. Every member is kept; those that the
// server owns are overwritten.
type Draft struct{ node *doc.Node }

var errObject = errors.New("a policy is an object")

// NewDraft reads a document.
func NewDraft(text []byte) (Draft, error) {
	n, err := doc.ParseNode(text)
	if err != nil {
		return Draft{}, err
	}
	if !n.Is(doc.TypeObject) {
		return Draft{}, errObject
	}
	return Draft{respelled(n)}, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Draft) UnmarshalJSON(text []byte) (err error) {
	*d, err = NewDraft(bytes.Clone(text))
	return err
}

// MarshalJSON implements json.Marshaler.
func (d Draft) MarshalJSON() ([]byte, error) { return d.node.JSON(), nil }

// ID returns the database ID the client wants, in lower case, or "".
func (d Draft) ID() string { return strings.ToLower(d.node.Get("_id").Text()) }

// APIs returns the identifiers of the APIs it gives access to.
func (d Draft) APIs() []string {
	if rights := d.node.Get("access_rights"); !missing(rights) {
		return rights.Names()
	}
	var out []string
	for _, item := range d.node.Get("access_rights_array").Items() {
		out = append(out, item.Get("api_id").Text())
	}
	return out
}

// missing reports whether a member is absent or null.
func missing(n *doc.Node) bool { return n.Is(doc.Absent, doc.TypeNull) }

// The members that rules look at, by where they are.
var (
	spelled = []string{
		"_id", "id", "name", "org_id", "state", "active", "is_inactive", "access_rights", "access_rights_array", "partitions", "post_expiry_action",
		"auth_type", "auth_types", "date_created", "last_updated",
	}
	spelledPartitions = append([]string{perAPI}, shared...)
	spelledAccess     = append(append([]string{"api_id"}, mcpMembers...), restMembers...)
)

// respelled returns a document whose members are spelled as the rules spell
// them. Gateways do not look at upper and lower case: what is checked must be
// what they read. Of two spellings of one member the last counts.
func respelled(n *doc.Node) *doc.Node {
	n = respell(n, spelled)
	within(n, "partitions", func(p *doc.Node) *doc.Node { return respell(p, spelledPartitions) })
	within(n, "access_rights", func(rights *doc.Node) *doc.Node {
		for api, definition := range rights.Members() {
			rights.Set(api, respelledAccess(definition))
		}
		return rights
	})
	within(n, "access_rights_array", func(list *doc.Node) *doc.Node {
		items := list.Items()
		for i, definition := range items {
			items[i] = respelledAccess(definition)
		}
		if list.Is(doc.TypeArray) {
			list.SetItems(items)
		}
		return list
	})
	return n
}

func respelledAccess(definition *doc.Node) *doc.Node {
	definition = respell(definition, spelledAccess)
	within(definition, primitives, func(list *doc.Node) *doc.Node {
		items := list.Items()
		for i, p := range items {
			items[i] = respell(p, []string{"type"})
		}
		if list.Is(doc.TypeArray) {
			list.SetItems(items)
		}
		return list
	})
	return definition
}

// within replaces a member, if it is there, by what fn makes of it.
func within(n *doc.Node, name string, fn func(*doc.Node) *doc.Node) {
	if v := n.Get(name); v != nil {
		n.Set(name, fn(v))
	}
}

func respell(n *doc.Node, names []string) *doc.Node {
	if !n.Is(doc.TypeObject) || !misspelled(n, names) {
		return n
	}
	out := doc.NewObject()
	for name, v := range n.Members() {
		out.Set(spelling(name, names), v)
	}
	return out
}

func misspelled(n *doc.Node, names []string) bool {
	for name := range n.Members() {
		if spelling(name, names) != name {
			return true
		}
	}
	return false
}

func spelling(name string, names []string) string {
	for _, want := range names {
		if strings.EqualFold(want, name) {
			return want
		}
	}
	return name
}
