package folder

import (
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// policies keeps policies by ID. Keys of clients name the key of the map
// (docs/wire/feeds.md#policies), so it takes precedence over an ID inside.
func (r *reader) policies(at Place, n *doc.Node) {
	for id, v := range n.Members() {
		place := Place{at.File, join(at.At, id)}
		if !v.Is(doc.TypeObject) {
			r.problem(place, "", "must be a policy, an object")
			continue
		}
		r.policy(place, id, v)
	}
}

// policy keeps one policy. Files of gateways have policies without a name; their ID becomes
// the name.
func (r *reader) policy(at Place, key string, n *doc.Node) {
	for _, name := range []string{"_id", "id", "name"} {
		if v := n.Get(name); !v.Is(doc.Absent, doc.TypeNull, doc.TypeString) {
			r.problem(at, name, "must be a string, not %s", v.Type())
			return
		}
	}
	n = n.Clone()
	id := n.Get("id").Text()
	if key != "" && id != key {
		if id != "" {
			r.note(at, "id", "is %q, but gateways know the policy as %q, which it is imported as", id, key)
		}
		n.Set("id", doc.NewString(key))
		id = key
	}
	if id == "" {
		id = n.Get("_id").Text()
	}
	if id == "" {
		r.problem(at, "id", "is missing: a policy is imported under its identifier")
		return
	}
	if n.Get("name").Text() == "" {
		n.Set("name", doc.NewString(id))
		r.note(at, "name", "is missing; the policy is called %s", fmt.Sprintf("%q", id))
	}
	r.bundle.Policies = append(r.bundle.Policies, Policy{ID: id, Place: at, Node: n})
}

// idp keeps one identity provider.
func (r *reader) idp(at Place, n *doc.Node) {
	for _, name := range []string{"_id", "client_idp_id"} {
		if v := n.Get(name); !v.Is(doc.Absent, doc.TypeNull, doc.TypeString) {
			r.problem(at, name, "must be a string, not %s", v.Type())
			return
		}
	}
	p := IdP{ID: n.Get("client_idp_id").Text(), Place: at, Node: n}
	if p.ID == "" {
		p.ID = n.Get("_id").Text()
	}
	if p.ID == "" {
		r.problem(at, "client_idp_id", "is missing: an identity provider is imported under its identifier")
		return
	}
	r.bundle.IdPs = append(r.bundle.IdPs, p)
}
