package provider

import (
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// StateKind is the name of synchronisation states in storage.
const StateKind = "portal-provider-state"

// Values of Status.
const (
	Unknown = "Unknown" // no attempt yet
	Up      = "Up"      // the last attempt has finished
	Down    = "Down"    // the dashboard did not respond to the last attempt as it should
)

// State is the state of the synchronisation of a provider.
type State struct {
	Provider table.ID  `json:"provider"`
	Portal   tenant.ID `json:"org_id"`
	Status   string    `json:"status"`
	TriedAt  time.Time `json:"tried_at,omitzero"`  // the end of the last attempt
	SyncedAt time.Time `json:"synced_at,omitzero"` // the end of the last attempt that succeeded
}

// Tried returns the state after an attempt.
func (s State) Tried(ok bool, at time.Time) State {
	s.TriedAt = at
	if s.Status = Down; ok {
		s.Status, s.SyncedAt = Up, at
	}
	return s
}

// units are the units of Ago, the largest first.
var units = []struct {
	name string
	size time.Duration
}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}}

// Ago returns the time since at in the two largest units: "7 minutes 5 seconds ago"; "" for
// the zero time.
func Ago(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	left, text := max(0, now.Sub(at)), ""
	for i, u := range units {
		n := left / u.size
		left %= u.size
		if n == 0 && (text != "" || u.size > time.Second) {
			if text != "" {
				break
			}
			continue
		}
		said := text != ""
		text += fmt.Sprintf("%d %s", int64(n), u.name)
		if n != 1 {
			text += "s"
		}
		text += " "
		if said || i == len(units)-1 {
			break
		}
	}
	return text + "ago"
}
