package key

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Policies returns the identifiers of the policies in a session. The single form counts only
// without the list, as in gateways.
func Policies(session *doc.Node) []string {
	ids := named(session.Get("apply_policies"))
	if one := session.Get("apply_policy_id").Text(); len(ids) == 0 && one != "" {
		return []string{one}
	}
	return ids
}

// named returns a list of identifiers as gateways decode it: null becomes the empty text,
// which identifies nothing.
func named(list *doc.Node) (ids []string) {
	for _, v := range list.Items() {
		ids = append(ids, v.Text())
	}
	return ids
}

// APIs returns the identifiers of the APIs in a session's own rights.
func APIs(session *doc.Node) []string { return session.Get("access_rights").Names() }

// part is one kind of limit, which a policy may set separately.
type part struct {
	partition string
	members   []string
	value     func(*doc.Node) float64 // 0: not set; negative: unlimited
}

var parts = []part{
	{"rate_limit", []string{"rate", "per", "throttle_interval", "throttle_retry_limit", "smoothing"}, func(n *doc.Node) float64 {
		return n.Get("rate").Float() / max(n.Get("per").Float(), 1)
	}},
	{"quota", []string{"quota_max", "quota_renewal_rate"}, func(n *doc.Node) float64 { return n.Get("quota_max").Float() }},
	{"complexity", []string{"max_query_depth"}, func(n *doc.Node) float64 { return n.Get("max_query_depth").Float() }},
}

// Limits returns the partitions for limits, each with the members of policies and sessions
// that it sets.
func Limits() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, p := range parts {
			if !yield(p.partition, slices.Clone(p.members)) {
				return
			}
		}
	}
}

// take copies a part of a policy's limits if it allows more, and reports whether it does.
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

// sets reports whether a policy sets a part: all parts, unless its partitions name some.
func sets(policy *doc.Node, partition string) bool {
	partitions := policy.Get("partitions")
	for _, name := range []string{acl, "rate_limit", "quota", "complexity", perAPI} {
		if partitions.Get(name).True() {
			return partitions.Get(partition).True() || partitions.Get(perAPI).True()
		}
	}
	return true
}

// Gives returns the APIs to which a policy gives rights. Without rights, the policy only has
// limits, and its keys have rights of their own.
func Gives(policy *doc.Node) (apis []string, rights bool) {
	if !sets(policy, acl) {
		return nil, false
	}
	return APIs(policy), true
}

// Lifetime returns the seconds after which a new key with these policies expires: the value of
// the last policy that has one; 0: the session decides. Gateways use it only when they make a
// key.
func Lifetime(policies []*doc.Node) (seconds int64) {
	for _, p := range policies {
		if n := p.Get("key_expires_in").Int(); n > 0 {
			seconds = n
		}
	}
	return seconds
}

// Past reports whether the expiry of a session is over. The value 1 means immediate expiry.
func Past(session *doc.Node, now time.Time) bool {
	at := session.Get("expires").Int()
	return at > 1 && at < now.Unix()
}

// Begin makes a session, in place, one of a new key: gateways ignore an expiry in the past, so
// it becomes 0.
func Begin(session *doc.Node, now time.Time) {
	if Past(session, now) {
		session.Set("expires", doc.NewInt(0))
	}
}

// Apply returns a session with its policies applied, as gateways do
// (docs/wire/keys.md#policies). Values of a policy replace those of the session. Of several
// policies the highest limit counts, and rights are merged.
func Apply(session *doc.Node, policies []*doc.Node) *doc.Node {
	return Explain(session, policies).Session
}

// merge is the state while policies are applied to a session.
type merge struct {
	session *doc.Node
	rights  *doc.Node // values of policies by API, even without rights; each has a limit
	acl     bool      // a policy gives rights
	by      Sources

	tags   []string                      // of the session and of policies
	tagged map[string]bool               // the set of tags
	known  map[*doc.Node]map[string]bool // entries of lists of rights, in canonical form
}

// add applies one policy.
func (m *merge) add(p *doc.Node) {
	own, name := p.Get("partitions", perAPI).True(), cmp.Or(p.Get("id").Text(), p.Get("_id").Text()) // the name of the policy for gateways
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
	// Values without a partition.
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

// settle sets the limits of rights to those of the session where no policy sets them: 0
// inherits. The limits of a single API become those of the session too, for gateways without
// per-API limits.
func (m *merge) settle() {
	for _, api := range m.rights.Names() {
		if len(m.by.APIs[api][acl]) == 0 { // a limit without a right
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

// tag adds new tags to the session.
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
		m.session.Set("tags", doc.NewArray()) // reserves the place; the tags are written once, at the end
	}
}

// join adds the permissions of one access definition to another.
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

// unite adds new items of one list to another.
func (m *merge) unite(to, from *doc.Node) {
	known := m.known[to]
	if known == nil { // indexed once, even if many policies add to it
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
