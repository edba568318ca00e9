package sync

// Drift is a kind of difference between a portal and its dashboard.
type Drift uint8

// The kinds of drift.
const (
	DriftGone      Drift = iota // the dashboard does not return the policy of a record any more
	DriftReturned               // it returns the policy of a hidden record again
	DriftUnknown                // it has a policy that no record knows
	DriftUnmade                 // a record has no policy yet, or a product lacks the successor of its draft
	DriftUndeleted              // a record is deleted, or a write was undone, and its policy is still there
	DriftName                   // the names differ
	DriftLabels                 // the custom identifier or the tags differ
	DriftAccess                 // the APIs, or how they authenticate, differ
	DriftState                  // one side says draft
	DriftLimits                 // rate or quota differ
	DriftExpiry                 // how long keys live differs
	DriftMetaData               // what keys carry for plugins differs
)

var driftNames = [...]string{"gone", "returned", "unknown", "unmade", "undeleted", "name", "labels", "access", "state", "limits", "expiry", "metadata"}

// String names the kind as reports do.
func (d Drift) String() string { return driftNames[d] }

// Cause says how a difference has come about.
type Cause uint8

// The causes.
const (
	InDashboard Cause = iota // somebody changed the policy at the dashboard
	InPortal                 // the portal has changed and the dashboard has not heard of it
	Interrupted              // a write has reached the dashboard and the portal has not noted it
)

// String says the cause as reports do.
func (c Cause) String() string {
	return [...]string{"changed at the dashboard", "changed in the portal, not yet at the dashboard", "an earlier write was interrupted"}[c]
}

// Difference is one difference between a portal and its dashboard.
type Difference struct {
	Drift  Drift
	Cause  Cause
	Kind   Kind
	Record string // key of the record; "" when there is none
	Policy Ref
	Name   string   // of the record or policy, for people
	Field  string   // member of the product or plan, when it is about one
	Member []string // members of the policy
}

// Differences returns in what a state differs from what is wanted, in order of the
// records. It is empty if and only if there is nothing to do.
func Differences(have, want State) []Difference {
	d := differ{was: byKey(have.Policies, Policy.key), is: byKey(want.Policies, Policy.key)}
	next := byKey(want.Records, Record.Key)
	known := make(map[string]bool, len(have.Records))
	told := map[string]bool{} // policies whose end is told with their record
	for _, r := range have.Records {
		known[r.Key()] = true
		w, ok := next[r.Key()]
		if !ok {
			d.note(r, DriftUndeleted, InPortal)
			told[Policy{Ref: r.Ref}.key()] = true
			continue
		}
		d.record(r, w)
	}
	for _, r := range want.Records {
		if !known[r.Key()] {
			d.note(r, DriftUnknown, InDashboard)
		}
	}
	for _, p := range have.Policies {
		if _, ok := d.is[p.key()]; !ok && !told[p.key()] {
			d.out = append(d.out, Difference{Drift: DriftUndeleted, Cause: Interrupted, Kind: p.Kind, Policy: p.Ref, Name: p.Terms.Name})
		}
	}
	return d.out
}

type differ struct {
	was, is map[string]Policy
	out     []Difference
}

func (d *differ) note(r Record, drift Drift, cause Cause) *Difference {
	d.out = append(d.out, Difference{Drift: drift, Cause: cause, Kind: r.Kind, Record: r.Key(), Policy: r.Ref, Name: r.Terms.Name})
	return &d.out[len(d.out)-1]
}

// record notes in what a record differs from what it should be.
func (d *differ) record(r, w Record) {
	before := len(d.out)
	switch {
	case !r.Hidden && w.Hidden:
		d.note(r, DriftGone, InDashboard)
	case r.Hidden && !w.Hidden:
		d.note(r, DriftReturned, InDashboard)
	}
	p := Policy{Ref: w.Ref, For: w.CID}
	was, existed := d.was[p.key()]
	switch is, ok := d.is[p.key()]; {
	case ok && (!existed || r.Agreed == nil || r.Generation != w.Generation):
		cause := InPortal
		if existed {
			cause = Interrupted
		}
		d.note(r, DriftUnmade, cause)
		return
	case ok:
		if r.Ref != w.Ref {
			d.note(r, DriftLabels, InDashboard)
		}
		d.fields(r, w, was, is)
	}
	if len(d.out) == before && !r.Equal(w) {
		d.note(r, DriftState, Interrupted)
	}
}

// fields notes the fields in which a record and its policy differ.
func (d *differ) fields(r, w Record, was, is Policy) {
	for _, f := range byKind[r.Kind] {
		cause := InDashboard
		switch {
		case !f.same(&was.Terms, &is.Terms):
			cause = InPortal
		case !f.same(&r.Terms, &w.Terms):
		case r.Agreed != nil && w.Agreed != nil && !f.same(r.Agreed, w.Agreed):
			cause = Interrupted
		default:
			continue
		}
		n := d.note(r, f.Drift, cause)
		n.Field, n.Member = f.Portal, f.Members
	}
	if was.Mark != is.Mark {
		d.note(r, DriftState, InPortal)
	}
}
