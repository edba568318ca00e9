package sync

// Drift is a kind of difference between a portal and its dashboard.
type Drift uint8

// The kinds of drift.
const (
	DriftGone      Drift = iota // the dashboard no longer returns the policy of a record
	DriftReturned               // the dashboard returns the policy of a hidden record again
	DriftUnknown                // the dashboard has a policy without a record
	DriftUnmade                 // a record has no policy yet, or a product lacks the successor of its draft
	DriftUndeleted              // a record is deleted, or a write was undone, and its policy still exists
	DriftName                   // the names differ
	DriftLabels                 // the custom identifier or the tags differ
	DriftAccess                 // the APIs or their authentication differ
	DriftState                  // only one side is a draft
	DriftLimits                 // rate or quota differ
	DriftExpiry                 // the lifetimes of keys differ
	DriftMetaData               // the metadata of keys for plugins differs
)

var driftNames = [...]string{"gone", "returned", "unknown", "unmade", "undeleted", "name", "labels", "access", "state", "limits", "expiry", "metadata"}

// String returns the name of the kind in reports.
func (d Drift) String() string { return driftNames[d] }

// Cause says how a difference has come about.
type Cause uint8

// The causes.
const (
	InDashboard Cause = iota // the policy was changed at the dashboard
	InPortal                 // the portal has a change that is not yet at the dashboard
	Interrupted              // a write has reached the dashboard, but the portal has not recorded it
)

// String returns the cause in reports.
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
	Name   string   // of the record or policy, for users
	Field  string   // member of the product or plan, if the difference concerns one
	Member []string // members of the policy
}

// Differences returns the differences between a state and the wanted state, in the order of
// the records. It is empty if and only if there is nothing to do.
func Differences(have, want State) []Difference {
	d := differ{was: byKey(have.Policies, Policy.key), is: byKey(want.Policies, Policy.key)}
	next := byKey(want.Records, Record.Key)
	known := make(map[string]bool, len(have.Records))
	told := map[string]bool{} // policies reported as deleted with their record
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

// record adds the differences between a record and its wanted state.
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
		// The fields in which the record and its policy differ.
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
	if len(d.out) == before && !r.Equal(w) {
		d.note(r, DriftState, Interrupted)
	}
}
