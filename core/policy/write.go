package policy

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Checks are the other inputs of the rules for writing.
type Checks struct {
	UnsafeIDs bool // allow_unsafe_policy_ids
	APIs      APIs // at least the existing ones to which the draft gives access
}

// New makes a policy from a draft, or returns a fault that names the wrong field. id is its
// database ID, unless the draft has its own.
func New(id string, org tenant.ID, now time.Time, d Draft, r Checks) (Policy, error) {
	if chosen := d.ID(); chosen != "" {
		if !shape.IsObjectID(chosen) {
			return Policy{}, invalid("_id", "policy _id must be 24 hexadecimal digits")
		}
		id = chosen
	} else if v := d.node.Get("_id"); !missing(v) && !v.Is(doc.TypeString) {
		return Policy{}, invalid("_id", "policy _id must be 24 hexadecimal digits")
	}
	n := d.node.Clone()
	n.Set("date_created", doc.NewString(now.UTC().Format(time.RFC3339Nano)))
	return write(n, owned{id: id, policyID: id, org: org}, now, r)
}

// Replace returns the policy with another document. Members of the server stay, and so does an
// id that the draft leaves out.
func (p Policy) Replace(d Draft, now time.Time, r Checks) (Policy, error) {
	old, err := p.Node()
	if err != nil {
		return Policy{}, err
	}
	n := d.node.Clone()
	if created := old.Get("date_created"); created != nil {
		n.Set("date_created", created)
	}
	return write(n, owned{id: p.ID(), policyID: p.PolicyID(), org: p.OrgID(), draft: p.State() == StateDraft, name: p.Name(), stored: true, auth: d.followsAPIs}, now, r)
}

// Edited returns the draft of a replacement that a client made by editing the policy in its
// form for reads. Unchanged members that derive from others are derived again, so an unchanged
// access_rights_array does not restore removed access rights.
func (p Policy) Edited(text []byte) (Draft, error) {
	d, err := NewDraft(text)
	if err != nil {
		return d, invalid("document", "the result is not a policy: %s", err.Error())
	}
	old, err := p.Node()
	if err != nil {
		return d, err
	}
	read, err := p.Node()
	if err != nil {
		return d, err
	}
	Table.FillLists(read) // as clients read them
	p.unread(d.node, old, read)
	same := func(name string) bool {
		v := d.node.Get(name)
		return v.Equal(read.Get(name)) || v.Equal(old.Get(name)) // complete documents may come in the shorter form
	}
	d.followsAPIs = !p.Told() && same("auth_type") && same("auth_types")
	if listed(d.node) && d.node.Get("access_rights_array").Len() > 0 && same("access_rights_array") {
		d.node.Delete("access_rights_array")
	}
	return d, nil
}

// owned is the values that a client cannot or need not set.
type owned struct {
	id, policyID string
	org          tenant.ID
	draft        bool   // the policy was a draft before
	name         string // previous name of the policy
	stored       bool   // the policy exists: it may keep its ID under any settings
	auth         bool   // the service replaces the authentication methods
}

// write completes a document and checks it.
func write(n *doc.Node, o owned, now time.Time, r Checks) (Policy, error) {
	if err := caps.Policy.Check(n); err != nil {
		return Policy{}, err
	}
	n.Set("_id", doc.NewString(o.id))
	n.Set("org_id", doc.NewString(string(o.org)))
	stamp(n, now)
	if missing(n.Get("id")) || n.Get("id").Is(doc.TypeString) && n.Get("id").Text() == "" {
		n.Set("id", doc.NewString(o.policyID))
	}
	if problems := Table.Check(n); len(problems) > 0 {
		p := problems[0]
		return Policy{}, fault.New(fault.Invalid, Kind+".type", "policy %s %s", p.Path, p.Demand()).At(p.Path)
	}
	if strings.TrimSpace(n.Get("name").Text()) == "" {
		return Policy{}, invalid("name", "policy name is required")
	}
	if flaw := label.Flaw(n.Get("name").Text(), o.name); flaw != "" {
		return Policy{}, invalid("name", "policy name %s", flaw)
	}
	if id := n.Get("id").Text(); !(o.stored && id == o.policyID) && !ValidID(id, r.UnsafeIDs) {
		switch {
		case utf8.RuneCountInString(id) > maxID:
			return Policy{}, invalid("id", "Invalid Policy ID: not more than %d characters", maxID)
		case r.UnsafeIDs:
			return Policy{}, invalid("id", "Invalid Policy ID: no control characters")
		}
		return Policy{}, invalid("id", "Invalid Policy ID: Allowed characters: a-z, A-Z, 0-9, ., _, -, ~")
	}
	if err := settleState(n, o.draft); err != nil {
		return Policy{}, err
	}
	for _, name := range shared {
		if n.Get("partitions", perAPI).True() && n.Get("partitions", name).True() {
			return Policy{}, invalid("partitions", "policy partitions: per_api cannot be combined with %s", name)
		}
	}
	switch n.Get("post_expiry_action").Text() {
	case "", "retain", "delete":
	default:
		return Policy{}, invalid("post_expiry_action", "policy post_expiry_action must be retain or delete")
	}
	if err := settleAccess(n, o.auth, r.APIs); err != nil {
		return Policy{}, err
	}
	return Load(n.JSON())
}

// stamp sets the time of the change, in Unix seconds as text.
func stamp(n *doc.Node, now time.Time) {
	n.Set("last_updated", doc.NewString(strconv.FormatInt(now.Unix(), 10)))
}

// maxID is the maximum length of an ID in characters.
const maxID = 256

// ValidID reports whether a policy can have the ID (docs/wire/policies.md#fields). unsafe
// allows all printable characters.
func ValidID(id string, unsafe bool) bool {
	return utf8.RuneCountInString(id) <= maxID && ValidLetters(id, unsafe)
}

// ValidLetters reports whether an ID of any length has only allowed characters.
func ValidLetters(id string, unsafe bool) bool {
	if id == "" || !utf8.ValidString(id) {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		if unsafe {
			return r < ' ' || r == 0x7f || label.Turns(r)
		}
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.~", r))
	})
}

// settleState sets is_inactive: keys of a draft do not work, and they work again when the
// policy is no longer a draft.
func settleState(n *doc.Node, draft bool) error {
	if missing(n.Get("state")) || n.Get("state").Text() == "" {
		n.Set("state", doc.NewString(string(StateActive)))
	}
	switch State(n.Get("state").Text()) {
	case StateDraft:
		n.Set("is_inactive", doc.NewBool(true))
	case StateActive, StateDeny:
		if draft && n.Get("is_inactive").True() {
			n.Set("is_inactive", doc.NewBool(false))
		}
	default:
		return invalid("state", "policy state must be active, draft or deny")
	}
	return nil
}

// The members of partitions.
const perAPI = "per_api"

var shared = []string{"acl", "rate_limit", "quota", "complexity"}

func invalid(field, format string, args ...any) error {
	return fault.New(fault.Invalid, Kind+"."+field, format, args...).At(field)
}
