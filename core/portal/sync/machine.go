package sync

// Life is the state of a record and its policy.
type Life uint8

// The states of a record (docs/wire/portal-sync.md#life-of-a-policy).
const (
	Unmade      Life = iota // no policy yet
	Active                  // keys work
	Draft                   // the policy stays, keys do not work; of products only
	Hidden                  // the dashboard does not return the policy
	HiddenDraft             // the same, of a draft
	Gone                    // deleted
)

// String returns the name of the state in reports.
func (l Life) String() string {
	return [...]string{"unmade", "active", "draft", "hidden", "hidden draft", "deleted"}[l]
}

// Event is an event in the life of a record.
type Event uint8

// The events.
const (
	Wanted      Event = iota // an administrator has created a plan, or a product with APIs
	Emptied                  // all APIs are removed from a product
	Filled                   // it gets APIs with the same authentication as before
	FilledOther              // it gets APIs with another authentication
	Removed                  // an administrator deletes the record
	Missed                   // a synchronisation does not find the policy
	Found                    // a synchronisation finds it again
)

// String returns the name of the event in reports.
func (e Event) String() string {
	return [...]string{"wanted", "emptied", "filled", "filled otherwise", "removed", "missed", "found"}[e]
}

// Effect is what an event requires at the dashboard or in the portal.
type Effect uint8

// The effects.
const (
	Nothing    Effect = iota
	Make              // create a policy
	Rewrite           // write the access rights
	Deactivate        // turn the policy into a draft: keys stop working
	Reactivate        // activate the policy with new rights: keys work again
	Succeed           // mark the draft and leave it behind, and create another policy: old keys stay invalid
	Delete            // delete the policy
	Hide              // hide the record, and keep its configuration
	Restore           // show the record again
)

// String returns the name of the effect in reports.
func (e Effect) String() string {
	return [...]string{"nothing", "make", "rewrite", "deactivate", "reactivate", "succeed", "delete", "hide", "restore"}[e]
}

// Move is the next state after an event, and the effect.
type Move struct {
	To     Life
	Effect Effect
}

// moves is the state machine. A missing event changes nothing: changes of a hidden record wait
// until its policy is found again.
var moves = map[Life]map[Event]Move{
	Unmade:      {Wanted: {Active, Make}, Filled: {Active, Make}, FilledOther: {Active, Make}, Removed: {Gone, Nothing}},
	Active:      {Emptied: {Draft, Deactivate}, Filled: {Active, Rewrite}, FilledOther: {Active, Rewrite}, Removed: {Gone, Delete}, Missed: {Hidden, Hide}},
	Draft:       {Filled: {Active, Reactivate}, FilledOther: {Active, Succeed}, Removed: {Gone, Delete}, Missed: {HiddenDraft, Hide}},
	Hidden:      {Found: {Active, Restore}, Removed: {Gone, Delete}},
	HiddenDraft: {Found: {Draft, Restore}, Removed: {Gone, Delete}},
	Gone:        {},
}

// Next returns the move for an event in a state.
func Next(from Life, e Event) Move {
	if m, ok := moves[from][e]; ok {
		return m
	}
	return Move{from, Nothing}
}

// KeysWork reports whether gateways accept keys of the policy. For a hidden record it is
// unknown, and the result is false.
func (l Life) KeysWork() bool { return l == Active }

// Life returns the state of the record.
func (r Record) Life() Life {
	draft := r.Agreed != nil && r.Agreed.Draft
	switch {
	case r.Agreed == nil:
		return Unmade
	case r.Hidden && draft:
		return HiddenDraft
	case r.Hidden:
		return Hidden
	case draft:
		return Draft
	}
	return Active
}
