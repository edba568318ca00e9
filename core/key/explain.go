package key

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Effect is the effective rights of a key with its policies applied, and the source of each
// part (docs/wire/effective-rights.md).
type Effect struct {
	Session *doc.Node // with its policies applied
	Sources
}

// Sources say which policy sets each part. A part without a source comes from the key itself,
// or is unlimited.
type Sources struct {
	Session map[string]string              // by part: the policy with the limit for APIs without their own
	APIs    map[string]map[string][]string // by API and part: rights come from each policy that gives some, a limit from one
	Each    map[string]bool                // APIs with their own request counters
}

func (s *Sources) of(api string) map[string][]string {
	if s.APIs[api] == nil {
		s.APIs[api] = map[string][]string{}
	}
	return s.APIs[api]
}

func (s *Sources) set(api, part, policy string) {
	if policy == "" {
		delete(s.of(api), part)
		return
	}
	s.of(api)[part] = []string{policy}
}

// Explain is Apply, and also returns the sources.
func Explain(session *doc.Node, policies []*doc.Node) Effect {
	m := merge{session: session.Clone(), rights: doc.NewObject(), known: map[*doc.Node]map[string]bool{},
		by: Sources{Session: map[string]string{}, APIs: map[string]map[string][]string{}, Each: map[string]bool{}}}
	if len(policies) > 0 {
		for _, p := range policies { // values that policies set are removed from the session
			m.acl = m.acl || sets(p, acl)
			for _, part := range parts {
				if sets(p, part.partition) {
					part.copy(m.session, nil)
				}
			}
		}
		for _, p := range policies {
			m.add(p)
		}
		m.settle()
	}
	if m.acl {
		return Effect{m.session, m.by}
	}
	// The key has rights of its own. An API with a limit has its own counters; others have the
	// limits of the session.
	m.by.APIs, m.by.Each = map[string]map[string][]string{}, map[string]bool{}
	for api, definition := range m.session.Get("access_rights").Members() {
		m.by.of(api)
		for _, p := range parts {
			if p.value(definition.Get("limit")) != 0 {
				m.by.Each[api] = true
			} else {
				m.by.set(api, p.partition, m.by.Session[p.partition])
			}
		}
	}
	return Effect{m.session, m.by}
}

// LimitOf returns the effective limit for an API, as a new object: its own, or otherwise that
// of the session.
func (e Effect) LimitOf(api string) *doc.Node {
	own, out := e.Session.Get("access_rights", api, "limit"), doc.NewObject()
	for _, p := range parts {
		if p.value(own) != 0 {
			p.copy(out, own)
		} else {
			p.copy(out, e.Session)
		}
	}
	return out
}

// Mixed reports whether policies cannot be combined: gateways refuse keys with both per-API
// limits and other partitions.
func Mixed(policies []*doc.Node) bool {
	each := func(p *doc.Node) bool { return p.Get("partitions", perAPI).True() }
	partitioned := func(p *doc.Node) bool {
		return p.Get("partitions", acl).True() || slices.ContainsFunc(parts, func(part part) bool { return p.Get("partitions", part.partition).True() })
	}
	return slices.ContainsFunc(policies, each) && slices.ContainsFunc(policies, partitioned)
}
