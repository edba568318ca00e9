package gatewaysim

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// Session is the permissions from all policies of a credential together.
type Session struct {
	Inactive bool              // one of the policies is inactive
	Rights   map[string]Access // by API id; empty when no policy restricts access
	Limit    Limit             // of all APIs without a limit of their own
	PerAPI   map[string]Limit  // by API id, from policies that name the API
	Each     map[string]bool   // APIs whose requests are counted separately
	Tags     []string          // of all policies
	Meta     map[string]any    // likewise; the last one wins

	acl  bool    // a policy lists APIs
	sets [3]bool // whether a policy sets the rate, the quota and the depth
}

// Access is the permissions for one API.
type Access struct {
	URLs       []URLAccess `json:"allowed_urls"` // empty: every request
	Methods    Lists       `json:"json_rpc_methods_access_rights"`
	Primitives struct {
		Tools, Resources, Prompts Lists
	} `json:"mcp_access_rights"`
	Versions []string
	// Endpoints are limits of paths and methods.
	Endpoints []Endpoint
	// Restrictions of GraphQL queries, which are not checked here.
	Restricted      []GraphType      `json:"restricted_types"`
	Allowed         []GraphType      `json:"allowed_types"`
	Fields          []GraphField     `json:"field_access_rights"`
	MethodLimits    []MethodLimit    `json:"json_rpc_methods"`
	PrimitiveLimits []PrimitiveLimit `json:"mcp_primitives"`
}

// GraphType lists fields of a type, or * for all of them.
type GraphType struct {
	Name   string
	Fields []string
}

// GraphField limits how deep a query may ask below a field.
type GraphField struct {
	Type   string `json:"type_name"`
	Field  string `json:"field_name"`
	Limits struct {
		Depth int64 `json:"max_query_depth"`
	}
}

// URLAccess allows methods for the paths that match a regular expression.
type URLAccess struct {
	URL     string
	Methods []string
}

// Endpoint limits methods of a path.
type Endpoint struct {
	Path    string
	Methods []MethodLimit
}

// Lists are regular expressions for names, matched in full: blocked names are refused and, with an
// allow list, all names that are not in it (docs/wire/policies.md#access-definitions).
type Lists struct{ Allowed, Blocked []string }

// MethodLimit limits one JSON-RPC method, such as tools/call.
type MethodLimit struct {
	Name  string
	Limit Limit
}

// PrimitiveLimit limits one tool, resource or prompt; Type says which of the three.
type PrimitiveLimit struct {
	Type, Name string
	Limit      Limit
}

// Limit is a rate and a quota; zero means not set, -1 means unlimited and exceeds any number.
type Limit struct {
	Rate, Per    float64 // requests in seconds
	QuotaMax     int64   `json:"quota_max"`
	QuotaRenewal int64   `json:"quota_renewal_rate"` // seconds; 0 or less: never renewed
	// Settings of the rate that are not simulated.
	ThrottleInterval float64 `json:"throttle_interval"`
	ThrottleRetries  int64   `json:"throttle_retry_limit"`
	Smoothing        *Smoothing
	Depth            int64 `json:"max_query_depth"` // of GraphQL queries
}

// Smoothing configures how a rate grows.
type Smoothing struct {
	Enabled                         bool
	Threshold, Trigger, Step, Delay float64
}

// Reasons why policies cannot be applied.
var (
	errNoPolicy = errors.New("policy not found")
	errMixed    = errors.New("policies with limits per API do not mix with partitioned ones")
)

// Session returns the permissions of a credential of an organisation with these policies. It fails
// if they cannot be applied: one is not loaded, or per_api is mixed with other partitions.
func (g *Gateway) Session(org string, policies ...string) (Session, error) {
	return newSession(g.view().policies, org, policies)
}

// newSession merges policies (docs/wire/keys.md#policies): each gives the parts that its partitions
// name, or all of them when it names none. Of several rates or quotas the most generous counts;
// lists are merged. Limits of policies that name the API override limits for all APIs.
func newSession(loaded map[policyKey]*policy, org string, ids []string) (Session, error) {
	s := Session{Rights: map[string]Access{}, PerAPI: map[string]Limit{}, Each: map[string]bool{}, Meta: map[string]any{}}
	perAPI, partitioned := false, false
	for _, id := range ids {
		p := loaded[policyKey{org, id}]
		if p == nil {
			return Session{}, fmt.Errorf("%w: %s", errNoPolicy, id)
		}
		s.Inactive = s.Inactive || p.IsInactive
		s.Tags = appendNew(s.Tags, p.Tags)
		maps.Copy(s.Meta, p.MetaData)
		perAPI, partitioned = perAPI || p.Partitions.PerAPI, partitioned || p.partitioned()
		if p.Partitions.PerAPI {
			s.addPerAPI(p)
		} else {
			s.addParts(p)
		}
	}
	if perAPI && partitioned {
		return Session{}, errMixed
	}
	return s, nil
}

// partitioned reports whether a policy gives only some parts.
func (p *policy) partitioned() bool {
	return p.Partitions.ACL || p.Partitions.RateLimit || p.Partitions.Quota || p.Partitions.Complexity
}

// addPerAPI takes rights and limits from each entry; an entry without a limit has the policy's.
func (s *Session) addPerAPI(p *policy) {
	s.acl, s.sets = true, [3]bool{true, true, true}
	for api, r := range p.AccessRights {
		limit := p.Limit
		if r.Limit != nil {
			limit = *r.Limit
		}
		s.Rights[api] = s.Rights[api].join(r.Access)
		s.PerAPI[api] = s.PerAPI[api].rate(limit).quota(limit).depth(limit)
		s.Each[api] = true
	}
}

func (s *Session) addParts(p *policy) {
	all := !p.partitioned()
	if all || p.Partitions.ACL {
		s.acl = true
		for api, r := range p.AccessRights {
			s.Rights[api] = s.Rights[api].join(r.Access)
		}
	}
	rate, quota, depth := all || p.Partitions.RateLimit, all || p.Partitions.Quota, all || p.Partitions.Complexity
	give := func(to Limit) Limit {
		if rate {
			to = to.rate(p.Limit)
		}
		if quota {
			to = to.quota(p.Limit)
		}
		if depth {
			to = to.depth(p.Limit)
		}
		return to
	}
	s.Limit, s.sets = give(s.Limit), [3]bool{s.sets[0] || rate, s.sets[1] || quota, s.sets[2] || depth}
	for api := range p.AccessRights {
		s.PerAPI[api] = give(s.PerAPI[api])
	}
}

// Grants reports whether the session gives access to an API.
func (s Session) Grants(api string) bool {
	_, here := s.Rights[api]
	return here || len(s.Rights) == 0
}

// limit returns the limit for an API: from policies that name it, else the limit for all APIs.
// Requests to all APIs that no policy limits separately are counted together: scope is "" for them.
func (s Session) limit(api string) (l Limit, scope string) {
	l = s.PerAPI[api]
	if l.Rate == 0 {
		l = l.withRate(s.Limit)
	}
	if l.QuotaMax == 0 {
		l.QuotaMax, l.QuotaRenewal = s.Limit.QuotaMax, s.Limit.QuotaRenewal
	}
	if l.Depth == 0 {
		l.Depth = s.Limit.Depth
	}
	if s.Each[api] {
		scope = api
	}
	return l, scope
}

// LimitOf returns the limit for an API, and whether its requests are counted separately.
func (s Session) LimitOf(api string) (l Limit, each bool) {
	l, scope := s.limit(api)
	return l, scope != ""
}

func (a Access) join(b Access) Access {
	a.URLs = slices.Concat(a.URLs, b.URLs)
	a.Methods = a.Methods.join(b.Methods)
	a.Primitives.Tools = a.Primitives.Tools.join(b.Primitives.Tools)
	a.Primitives.Resources = a.Primitives.Resources.join(b.Primitives.Resources)
	a.Primitives.Prompts = a.Primitives.Prompts.join(b.Primitives.Prompts)
	a.Versions, a.Endpoints = slices.Concat(a.Versions, b.Versions), slices.Concat(a.Endpoints, b.Endpoints)
	a.Restricted, a.Allowed, a.Fields = slices.Concat(a.Restricted, b.Restricted), slices.Concat(a.Allowed, b.Allowed), slices.Concat(a.Fields, b.Fields)
	a.MethodLimits = slices.Concat(a.MethodLimits, b.MethodLimits)
	a.PrimitiveLimits = slices.Concat(a.PrimitiveLimits, b.PrimitiveLimits)
	return a
}

func (l Lists) join(more Lists) Lists {
	return Lists{slices.Concat(l.Allowed, more.Allowed), slices.Concat(l.Blocked, more.Blocked)}
}

func (l Lists) permit(name string) bool {
	full := func(pattern string) bool { return matches(`^(?:`+pattern+`)$`, name) }
	return !slices.ContainsFunc(l.Blocked, full) && (len(l.Allowed) == 0 || slices.ContainsFunc(l.Allowed, full))
}

// permits checks a request by the path below the listen path.
func (a Access) permits(method, path string) bool {
	return len(a.URLs) == 0 || slices.ContainsFunc(a.URLs, func(u URLAccess) bool {
		return slices.Contains(u.Methods, method) && matches(u.URL, path)
	})
}

// matches returns false for an invalid regular expression.
func matches(pattern, text string) bool {
	re, err := regexp.Compile(pattern)
	return err == nil && re.MatchString(text)
}

// withRate copies a rate with its settings.
func (l Limit) withRate(other Limit) Limit {
	l.Rate, l.Per, l.ThrottleInterval, l.ThrottleRetries, l.Smoothing = other.Rate, other.Per, other.ThrottleInterval, other.ThrottleRetries, other.Smoothing
	return l
}

// rate, quota and depth copy one part of a limit if it is more generous.
func (l Limit) rate(other Limit) Limit {
	if generous(other.Rate/max(other.Per, 1), l.Rate/max(l.Per, 1)) {
		l = l.withRate(other)
	}
	return l
}

func (l Limit) depth(other Limit) Limit {
	if generous(float64(other.Depth), float64(l.Depth)) {
		l.Depth = other.Depth
	}
	return l
}

func (l Limit) quota(other Limit) Limit {
	if generous(float64(other.QuotaMax), float64(l.QuotaMax)) {
		l.QuotaMax, l.QuotaRenewal = other.QuotaMax, other.QuotaRenewal
	}
	return l
}

// generous reports whether a allows more than b: less than 0 is unlimited, 0 is not set.
func generous(a, b float64) bool { return a != 0 && b >= 0 && (a < 0 || a > b) }
