// Package policy models the policies of keys and tokens: the rights and limits of a client at
// APIs. A policy belongs to its author: its text is stored unchanged, and the rules read only
// a few members of it.
package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name of the resource in storage, history and the change log.
const Kind = "policy"

// State says whether keys of a policy work (docs/wire/policies.md#fields).
type State string

// The states of a policy.
const (
	StateActive State = "active" // keys work and can be made
	StateDraft  State = "draft"  // keys are disabled, none can be made
	StateDeny   State = "deny"   // not published to gateways
)

// Policy is one policy of an organisation. It is immutable: every change returns a new one.
type Policy struct {
	text  []byte // the document, a valid JSON object
	facts *facts
}

// facts are the values of the document that rules, indexes and lists use.
type facts struct {
	id, policyID, name string
	org                tenant.ID
	state              State
	active, inactive   bool
	created, changed   time.Time
	apis, authTypes    []string
	told               bool   // a client set authTypes: they differ from those that the service would write
	lacks              uint32 // bits of the defaults that the document lacks
	gaps               bool   // the document has null or nothing where clients expect a list
}

// Load decodes a stored document. It trusts the text: today's checks do not reject older
// records.
func Load(text []byte) (Policy, error) {
	o, err := doc.LoadObject(text)
	if err != nil {
		return Policy{}, err
	}
	f := &facts{
		id: value[string](o, "_id"), policyID: value[string](o, "id"), name: value[string](o, "name"), org: value[tenant.ID](o, "org_id"),
		state: value[State](o, "state"), active: value[bool](o, "active"), inactive: value[bool](o, "is_inactive"), created: value[time.Time](o, "date_created"),
		authTypes: value[[]string](o, "auth_types"),
	}
	for i, d := range defaults {
		if _, ok := o.Get(d.name); !ok {
			f.lacks |= 1 << i
		}
	}
	for _, name := range Table.Lists() {
		raw, _ := o.Get(name)
		f.gaps = f.gaps || doc.IsNull(raw)
	}
	f.policyID, f.state = cmp.Or(f.policyID, f.id), cmp.Or(f.state, StateActive)
	f.changed = f.created
	if seconds, err := strconv.ParseInt(value[string](o, "last_updated"), 10, 64); err == nil && seconds > f.created.Unix() {
		f.changed = time.Unix(seconds, 0)
	}
	one := value[string](o, "auth_type")
	known := apidef.AuthMethods()
	f.told = one != single(f.authTypes) || !slices.IsSorted(f.authTypes) || slices.ContainsFunc(f.authTypes, func(m string) bool { return !slices.Contains(known, m) })
	if one != "" && !slices.Contains(f.authTypes, one) {
		f.authTypes = append(f.authTypes, one)
	}
	raw, ok := o.Get("access_rights")
	if !ok || !doc.IsObject(raw) {
		return Policy{text: text, facts: f}, nil
	}
	rights, err := doc.LoadObject(raw)
	for id := range rights.All() {
		f.apis = append(f.apis, id)
	}
	f.gaps = f.gaps || len(f.apis) > 0 // most definitions lack some lists
	return Policy{text: text, facts: f}, err
}

// value decodes a member; a member of another type counts as absent.
func value[T any](o doc.Object, name string) (v T) {
	if raw, ok := o.Get(name); ok && json.Unmarshal(raw, &v) != nil {
		var zero T
		return zero
	}
	return v
}

// ID returns the database ID (_id), 24 hex digits.
func (p Policy) ID() string { return p.facts.id }

// PolicyID returns the identifier that keys, tokens and mappings use (id).
func (p Policy) PolicyID() string { return p.facts.policyID }

// OrgID returns the organisation.
func (p Policy) OrgID() tenant.ID { return p.facts.org }

// Name returns the name, unique in the organisation.
func (p Policy) Name() string { return p.facts.name }

// State returns the state; a document without one is active.
func (p Policy) State() State { return p.facts.state }

// Active reports whether the document has active: true, which gateways ignore.
func (p Policy) Active() bool { return p.facts.active }

// Created returns when the policy was created.
func (p Policy) Created() time.Time { return p.facts.created }

// Changed returns when the policy was last written, to the second.
func (p Policy) Changed() time.Time { return p.facts.changed }

// APIs returns the identifiers of the APIs to which it gives access, in the order of the
// document. They need not exist.
func (p Policy) APIs() []string { return p.facts.apis }

// AuthTypes returns the authentication methods in the policy: those of its APIs when it was
// written, or those that a client set.
func (p Policy) AuthTypes() []string { return p.facts.authTypes }

// Told reports whether a client set the authentication methods.
func (p Policy) Told() bool { return p.facts.told }

// Published reports whether gateways get the policy.
func (p Policy) Published() bool { return p.facts.state != StateDeny }

// MakesKeys reports whether keys can be made with the policy: keys of a draft or of an
// inactive policy would not work.
func (p Policy) MakesKeys() bool { return p.facts.state == StateActive && !p.facts.inactive }

// Without returns p without access to one API, and whether this changed anything. The last API
// stays: an empty list would mean every API (docs/wire/policies.md#reads-and-writes).
func (p Policy) Without(apiID string, now time.Time) (Policy, bool) {
	if len(p.facts.apis) < 2 || !slices.Contains(p.facts.apis, apiID) {
		return p, false
	}
	n, err := doc.ParseNode(p.text)
	if err != nil {
		return p, false
	}
	n.Delete("access_rights", apiID)
	list(n)
	stamp(n, now)
	q, err := Load(n.JSON())
	return q, err == nil
}

// Over returns the policy with the stored text as its text, so that it is in memory only once.
func (p Policy) Over(stored []byte) Policy {
	if bytes.Equal(p.text, stored) {
		p.text = stored
	}
	return p
}

// Size returns the length of the document in bytes.
func (p Policy) Size() int { return len(p.text) }

// Node returns a tree of the document. The caller may edit it.
func (p Policy) Node() (*doc.Node, error) { return doc.ParseNode(p.text) }

// AppendJSON implements doc.Appender: it appends the document as stored and as sent to
// clients. For nil it returns the text that the policy keeps: treat it as read-only.
func (p Policy) AppendJSON(b []byte) ([]byte, error) {
	if b == nil {
		return p.text[:len(p.text):len(p.text)], nil
	}
	return append(b, p.text...), nil
}

// MarshalJSON implements json.Marshaler.
func (p Policy) MarshalJSON() ([]byte, error) { return p.text, nil }
