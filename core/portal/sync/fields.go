package sync

import (
	"bytes"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Direction says which side may change a field.
type Direction uint8

// The directions.
const (
	Both       Direction = iota // either side
	FromPolicy                  // the dashboard; the portal sets it only when it creates a policy
	Derived                     // neither side: it is derived from the APIs
)

// String returns the direction in reports.
func (d Direction) String() string { return [...]string{"both", "from the policy", "derived"}[d] }

// Field is a row of the table of corresponding members.
type Field struct {
	Portal    string   // member of a product or plan
	Members   []string // of the policy
	Of        []Kind
	Direction Direction
	Drift     Drift // kind of drift of a difference in this field

	same  func(a, b *Terms) bool
	copy  func(to, from *Terms)
	read  func(n *doc.Node, t *Terms)
	write func(n *doc.Node, t *Terms)
}

// Fields is the table of the members of products and plans and the corresponding members of
// their policies.
var Fields = []Field{
	value("Name", "name", []Kind{KindProduct, KindPlan}, Both, DriftName, func(t *Terms) *string { return &t.Name }, (*doc.Node).Text, doc.NewString),
	{
		Portal: "policy tags", Members: []string{"tags"}, Of: []Kind{KindProduct, KindPlan}, Direction: FromPolicy, Drift: DriftLabels,
		same: func(a, b *Terms) bool { return slices.Equal(a.Tags, b.Tags) },
		copy: func(to, from *Terms) { to.Tags = slices.Clone(from.Tags) },
		read: func(n *doc.Node, t *Terms) { t.Tags, _ = tags(n) },
	},
	{
		Portal: "APIDetails", Members: []string{memberRights, memberList}, Of: []Kind{KindProduct}, Direction: Both, Drift: DriftAccess,
		same: func(a, b *Terms) bool { return slices.Equal(a.APIs, b.APIs) },
		copy: func(to, from *Terms) { to.APIs = slices.Clone(from.APIs) },
	},
	{
		Portal: "AuthTypes", Members: []string{"auth_type", "auth_types"}, Of: []Kind{KindProduct}, Direction: Derived, Drift: DriftAccess,
		same: func(a, b *Terms) bool { return slices.Equal(a.AuthTypes, b.AuthTypes) },
		copy: func(to, from *Terms) { to.AuthTypes = slices.Clone(from.AuthTypes) },
		read: func(n *doc.Node, t *Terms) { t.AuthTypes = methodsOf(n) },
		write: func(n *doc.Node, t *Terms) {
			one := ""
			if len(t.AuthTypes) == 1 {
				one = t.AuthTypes[0]
			}
			n.Set("auth_type", doc.NewString(one))
			n.Set("auth_types", doc.NewStrings(t.AuthTypes))
		},
	},
	{
		Portal: "draft", Members: []string{"state", "is_inactive"}, Of: []Kind{KindProduct}, Direction: Derived, Drift: DriftState,
		same: func(a, b *Terms) bool { return a.Draft == b.Draft },
		copy: func(to, from *Terms) { to.Draft = from.Draft },
		read: func(n *doc.Node, t *Terms) { t.Draft = n.Get("state").Text() == stateDraft },
		write: func(n *doc.Node, t *Terms) {
			state := stateActive
			if t.Draft {
				state = stateDraft
			}
			n.Set("state", doc.NewString(state))
			n.Set("is_inactive", doc.NewBool(t.Draft))
		},
	},
	value("RateLimit", "rate", []Kind{KindPlan}, Both, DriftLimits, func(t *Terms) *int64 { return &t.Rate }, (*doc.Node).Int, doc.NewInt),
	value("Per", "per", []Kind{KindPlan}, Both, DriftLimits, func(t *Terms) *float64 { return &t.Per }, (*doc.Node).Float, doc.NewFloat),
	value("Quota", "quota_max", []Kind{KindPlan}, Both, DriftLimits, func(t *Terms) *int64 { return &t.Quota }, (*doc.Node).Int, doc.NewInt),
	value("QuotaRenewalRate", "quota_renewal_rate", []Kind{KindPlan}, Both, DriftLimits, func(t *Terms) *int64 { return &t.QuotaRenewal }, (*doc.Node).Int, doc.NewInt),
	value("KeyExpiresIn", "key_expires_in", []Kind{KindPlan}, Both, DriftExpiry, func(t *Terms) *int64 { return &t.KeyExpiresIn }, (*doc.Node).Int, doc.NewInt),
	{
		Portal: "MetaData", Members: []string{memberMeta}, Of: []Kind{KindPlan}, Direction: Both, Drift: DriftMetaData,
		same: func(a, b *Terms) bool { return sameObject(a.MetaData, b.MetaData) },
		copy: func(to, from *Terms) { to.MetaData = slices.Clone(from.MetaData) },
		read: func(n *doc.Node, t *Terms) {
			if v := n.Get(memberMeta); v.Is(doc.TypeObject) && v.Len() > 0 {
				t.MetaData = v.JSON()
			}
		},
		write: func(n *doc.Node, t *Terms) {
			v, err := doc.ParseNode(t.MetaData)
			if err != nil || !v.Is(doc.TypeObject) {
				v = doc.NewObject()
			}
			n.Set(memberMeta, v)
		},
	},
}

// Members and states of policies that are used in several places.
const (
	memberRights = "access_rights"
	memberList   = "access_rights_array"
	memberMeta   = "meta_data"
	stateDraft   = "draft"
	stateActive  = "active"
)

// value returns the row of a field with a single comparable value.
func value[T comparable](portal, member string, of []Kind, d Direction, drift Drift, at func(*Terms) *T, decode func(*doc.Node) T, encode func(T) *doc.Node) Field {
	return Field{
		Portal: portal, Members: []string{member}, Of: of, Direction: d, Drift: drift,
		same:  func(a, b *Terms) bool { return *at(a) == *at(b) },
		copy:  func(to, from *Terms) { *at(to) = *at(from) },
		read:  func(n *doc.Node, t *Terms) { *at(t) = decode(n.Get(member)) },
		write: func(n *doc.Node, t *Terms) { n.Set(member, encode(*at(t))) },
	}
}

// byKind are the rows for each kind.
var byKind = func() (out [3][]Field) {
	for _, f := range Fields {
		for _, k := range f.Of {
			out[k] = append(out[k], f)
		}
	}
	return out
}()

// same reports whether terms of a kind are equal.
func same(k Kind, a, b *Terms) bool {
	for _, f := range byKind[k] {
		if !f.same(a, b) {
			return false
		}
	}
	return true
}

// sameObject compares two JSON objects as text; a missing one is empty.
func sameObject(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	canonical := func(text []byte) string {
		n, err := doc.ParseNode(text)
		if err != nil {
			n = doc.NewObject()
		}
		return n.Canonical()
	}
	return canonical(a) == canonical(b)
}
