package sync

// Life is where a record and its policy are in their life.
type Life uint8

// The states of a record (docs/wire/portal-sync.md#life-of-a-policy).
const (
	Unmade      Life = iota // no policy yet
	Active                  // keys work
	Draft                   // the policy is kept, keys do not work; of products
	Hidden                  // the dashboard does not return the policy
	HiddenDraft             // the same, of a draft
	Gone                    // deleted
)

// String names the state as reports do.
func (l Life) String() string {
	return [...]string{"unmade", "active", "draft", "hidden", "hidden draft", "deleted"}[l]
}

// Event is what can happen to a record.
type Event uint8

// The events.
const (
	Wanted      Event = iota // an administrator has made a plan, or a product with APIs
	Emptied                  // all APIs are removed from a product
	Filled                   // it gets APIs that take the same authentication as those before
	FilledOther              // it gets APIs that take another one
	Removed                  // an administrator deletes the record
	Missed                   // a synchronisation does not find the policy
	Found                    // it finds it again
)

// String names the event as reports do.
func (e Event) String() string {
	return [...]string{"wanted", "emptied", "filled", "filled otherwise", "removed", "missed", "found"}[e]
}

// Effect is what an event demands at the dashboard or in the portal.
type Effect uint8

// The effects.
const (
	Nothing    Effect = iota
	Make              // make a policy
	Rewrite           // write the access rights
	Deactivate        // keep the policy as a draft: keys stop working
	Reactivate        // the policy is active again, with new rights: keys work again
	Succeed           // leave the draft behind, marked, and make another policy: its keys stay invalid
	Delete            // delete the policy
	Hide              // unpublish the record, and keep its configuration
	Restore           // publish it again
)

// String names the effect as reports do.
func (e Effect) String() string {
	return [...]string{"nothing", "make", "rewrite", "deactivate", "reactivate", "succeed", "delete", "hide", "restore"}[e]
}

// Move is where an event leads, and what it demands.
type Move struct {
	To     Life
	Effect Effect
}

// moves is the state machine. An event that is not there changes nothing: the intent of a
// hidden record waits until its policy is found again.
var moves = map[Life]map[Event]Move{
	Unmade:      {Wanted: {Active, Make}, Filled: {Active, Make}, FilledOther: {Active, Make}, Removed: {Gone, Nothing}},
	Active:      {Emptied: {Draft, Deactivate}, Filled: {Active, Rewrite}, FilledOther: {Active, Rewrite}, Removed: {Gone, Delete}, Missed: {Hidden, Hide}},
	Draft:       {Filled: {Active, Reactivate}, FilledOther: {Active, Succeed}, Removed: {Gone, Delete}, Missed: {HiddenDraft, Hide}},
	Hidden:      {Found: {Active, Restore}, Removed: {Gone, Delete}},
	HiddenDraft: {Found: {Draft, Restore}, Removed: {Gone, Delete}},
	Gone:        {},
}

// Next returns where an event leads from a state.
func Next(from Life, e Event) Move {
	if m, ok := moves[from][e]; ok {
		return m
	}
	return Move{from, Nothing}
}

// KeysWork reports whether gateways accept keys of the policy. Of a hidden record the
// dashboard decides.
func (l Life) KeysWork() bool { return l == Active }

// Life returns where the record is in its life.
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
