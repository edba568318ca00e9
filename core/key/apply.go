package key

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Policies returns the identifiers of the policies that a session carries. The single
// form counts only without the list, as at gateways.
func Policies(session *doc.Node) []string {
	ids := named(session.Get("apply_policies"))
	if one := session.Get("apply_policy_id").Text(); len(ids) == 0 && one != "" {
		return []string{one}
	}
	return ids
}

// named returns a list of identifiers as gateways decode it: null is the empty text, which
// names nothing that they know.
func named(list *doc.Node) (ids []string) {
	for _, v := range list.Items() {
		ids = append(ids, v.Text())
	}
	return ids
}

// APIs returns the identifiers of the APIs to which a session has rights.
func APIs(session *doc.Node) []string { return session.Get("access_rights").Names() }

// part is one of the limits that a policy may set by itself.
type part struct {
	partition string
	members   []string
	value     func(*doc.Node) float64 // 0 says nothing, less is unlimited
}

var parts = []part{
	{"rate_limit", []string{"rate", "per", "throttle_interval", "throttle_retry_limit", "smoothing"}, func(n *doc.Node) float64 {
		return n.Get("rate").Float() / max(n.Get("per").Float(), 1)
	}},
	{"quota", []string{"quota_max", "quota_renewal_rate"}, func(n *doc.Node) float64 { return n.Get("quota_max").Float() }},
	{"complexity", []string{"max_query_depth"}, func(n *doc.Node) float64 { return n.Get("max_query_depth").Float() }},
}

// Limits returns the partitions that are about limits, each with the members of policies and
// sessions that it sets.
func Limits() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, p := range parts {
			if !yield(p.partition, slices.Clone(p.members)) {
				return
			}
		}
	}
}

// take copies a part of the limits of a policy where that allows more, and says if it does.
func (p part) take(to, from *doc.Node) bool {
	a, b := p.value(from), p.value(to)
	if a == 0 || b < 0 || a > 0 && a <= b {
		return false
	}
	p.copy(to, from)
	return true
}

func (p part) copy(to, from *doc.Node) {
	for _, name := range p.members {
		if v := from.Get(name); v.Is(doc.Absent, doc.TypeNull) {
			to.Delete(name)
		} else {
			to.Set(name, v.Clone())
		}
	}
}

const (
	acl    = "acl"
	perAPI = "per_api"
)

// sets reports whether a policy sets a part: all of them, unless its partitions name some.
func sets(policy *doc.Node, partition string) bool {
	partitions := policy.Get("partitions")
	for _, name := range []string{acl, "rate_limit", "quota", "complexity", perAPI} {
		if partitions.Get(name).True() {
			return partitions.Get(partition).True() || partitions.Get(perAPI).True()
		}
	}
	return true
}

// Gives returns the APIs to which a policy gives rights. Without rights it is about limits
// only, and its keys have rights of their own.
func Gives(policy *doc.Node) (apis []string, rights bool) {
	if !sets(policy, acl) {
		return nil, false
	}
	return APIs(policy), true
}

// Lifetime returns the seconds after which a new key with these policies expires: what the
// last of them says that says any; 0: what the session says. Gateways look at it when they
// make a key, and never again.
func Lifetime(policies []*doc.Node) (seconds int64) {
	for _, p := range policies {
		if n := p.Get("key_expires_in").Int(); n > 0 {
			seconds = n
		}
	}
	return seconds
}

// Past reports whether a session expires at a time that is over. 1 means at once.
func Past(session *doc.Node, now time.Time) bool {
	at := session.Get("expires").Int()
	return at > 1 && at < now.Unix()
}

// Begin makes a session, in place, one of a new key: gateways take an expiry that is over for
// none.
func Begin(session *doc.Node, now time.Time) {
	if Past(session, now) {
		session.Set("expires", doc.NewInt(0))
	}
}

// Apply returns a session with its policies applied, as gateways do it
// (docs/wire/keys.md#policies). What a policy sets replaces what the session says;
// of several policies the most generous limit counts, and rights are joined.
func Apply(session *doc.Node, policies []*doc.Node) *doc.Node {
	return Explain(session, policies).Session
}

// merge is the application of policies to a session.
type merge struct {
	session *doc.Node
	rights  *doc.Node // what policies say of APIs, whether they give rights or not; each has a limit
	acl     bool      // a policy gives rights
	by      Sources

	tags   []string                      // of the session and of policies
	tagged map[string]bool               // each of them
	known  map[*doc.Node]map[string]bool // what lists of rights have, in canonical form
}

// add applies one policy.
func (m *merge) add(p *doc.Node) {
	own, name := p.Get("partitions", perAPI).True(), cmp.Or(p.Get("id").Text(), p.Get("_id").Text()) // by which gateways know the policy
	for api, definition := range p.Get("access_rights").Members() {
		right := m.rights.Get(api)
		if right == nil {
			right = doc.NewObject()
			right.Set("limit", doc.NewObject())
			m.rights.Set(api, right)
		}
		if sets(p, acl) {
			m.join(right, definition)
			m.by.of(api)[acl] = append(m.by.of(api)[acl], name)
		}
		if own {
			m.by.Each[api] = true
		}
		limits := p
		if l := definition.Get("limit"); own && l.Is(doc.TypeObject) {
			limits = l
		}
		for _, part := range parts {
			if sets(p, part.partition) && part.take(right.Get("limit"), limits) {
				m.by.set(api, part.partition, name)
			}
		}
	}
	for _, part := range parts {
		if !own && sets(p, part.partition) && part.take(m.session, p) {
			m.by.Session[part.partition] = name
		}
	}
	// What no partition is about.
	if p.Get("is_inactive").True() {
		m.session.Set("is_inactive", doc.NewBool(true))
	}
	m.tag(p.Get("tags").Texts())
	for name, v := range p.Get("meta_data").Members() {
		if !m.session.Get("meta_data").Is(doc.TypeObject) {
			m.session.Set("meta_data", doc.NewObject())
		}
		m.session.Get("meta_data").Set(name, v.Clone())
	}
}

// settle gives rights the limits of the session where no policy sets theirs: 0 inherits. The limits
// of an only API are those of the session too, for gateways before per-API limits.
func (m *merge) settle() {
	for _, api := range m.rights.Names() {
		if len(m.by.APIs[api][acl]) == 0 { // a limit, and no right
			m.rights.Delete(api)
			delete(m.by.APIs, api)
			delete(m.by.Each, api)
		}
	}
	for api, right := range m.rights.Members() {
		for _, part := range parts {
			if part.value(right.Get("limit")) == 0 {
				part.copy(right.Get("limit"), m.session)
				m.by.set(api, part.partition, m.by.Session[part.partition])
			}
			if m.rights.Len() == 1 {
				part.copy(m.session, right.Get("limit"))
			}
		}
	}
	if m.acl {
		m.session.Set("access_rights", m.rights)
	}
	if len(m.tags) > 0 {
		m.session.Set("tags", doc.NewStrings(m.tags))
	}
}

// tag adds the tags that the session lacks.
func (m *merge) tag(tags []string) {
	if m.tagged == nil {
		m.tags, m.tagged = m.session.Get("tags").Texts(), map[string]bool{}
		for _, tag := range m.tags {
			m.tagged[tag] = true
		}
	}
	for _, tag := range tags {
		if !m.tagged[tag] {
			m.tagged[tag] = true
			m.tags = append(m.tags, tag)
		}
	}
	if len(m.tags) > 0 && !m.session.Get("tags").Is(doc.TypeArray) {
		m.session.Set("tags", doc.NewArray()) // its place; they are written once, at the end
	}
}

// join adds what an access definition allows to another one.
func (m *merge) join(to, from *doc.Node) {
	for name, v := range from.Members() {
		switch have := to.Get(name); {
		case name == "limit":
		case have.Is(doc.TypeArray) && v.Is(doc.TypeArray):
			m.unite(have, v)
		case have.Is(doc.TypeObject) && v.Is(doc.TypeObject):
			m.join(have, v)
		case have.Is(doc.Absent, doc.TypeNull):
			to.Set(name, v.Clone())
		}
	}
}

// unite adds the items of a list that another one lacks.
func (m *merge) unite(to, from *doc.Node) {
	known := m.known[to]
	if known == nil { // looked at once, however many policies add to it
		known = make(map[string]bool, to.Len())
		for _, item := range to.Items() {
			known[item.Canonical()] = true
		}
		m.known[to] = known
	}
	for _, item := range from.Items() {
		if text := item.Canonical(); !known[text] {
			known[text] = true
			to.Append(item.Clone())
		}
	}
}
