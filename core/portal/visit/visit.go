// Package visit models how people use the portal with a browser: their sessions, and
// the codes that they get by mail (docs/wire/portal-live.md).
package visit

import (
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/expiry"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kinds of records.
const (
	SessionKind = "portal-session"
	CodeKind    = "portal-code"
)

// Most is how many sessions of one user hold at a time. A further login ends the oldest.
const Most = 20

// Session lets a browser act as a user. The token that the browser has is not in it.
type Session struct {
	ID      string    `json:"id"`
	Portal  tenant.ID `json:"org_id"`
	UserID  table.ID  `json:"UserID"`
	Digest  string    `json:"Digest"` // keyed digest of the token
	Agent   string    `json:"Agent"`  // keyed digest of what the browser says it is
	Created time.Time `json:"Created"`
	Seen    time.Time `json:"Seen"` // about when it was used last
}

// Rules say for how long sessions hold.
type Rules struct{ Life, Idle time.Duration }

// Over reports whether the session has ended. One that begins further ahead than it lasts, or was
// used further ahead than it may be idle, is from before a clock was put back, and would hold
// until that time comes.
func (s Session) Over(r Rules, now time.Time) bool {
	return !now.Before(s.Created.Add(r.Life)) || !now.Before(s.Seen.Add(r.Idle)) ||
		s.Created.Sub(now) > r.Life || s.Seen.Sub(now) > r.Idle
}

// touches is how often in an idle time the use of a session is noted: each note is a
// write.
const touches = 12

// Stale reports whether the use of the session must be noted, so that it does not end.
func (s Session) Stale(r Rules, now time.Time) bool { return now.Sub(s.Seen) >= r.Idle/touches }

// Excess returns the sessions of a user that end when a further one begins: those that
// are over, and the oldest of the others.
func Excess(all []Session, r Rules, now time.Time) (out []Session) {
	var holding []Session
	for _, s := range all {
		if s.Over(r, now) {
			out = append(out, s)
		} else {
			holding = append(holding, s)
		}
	}
	slices.SortFunc(holding, func(a, b Session) int { return a.Created.Compare(b.Created) })
	return append(out, holding[:max(0, len(holding)-Most+1)]...)
}

// Purpose is what a code is for.
type Purpose string

// The purposes.
const (
	Reset  Purpose = "reset"  // another password in place of a forgotten one
	Invite Purpose = "invite" // to finish a registration that an admin began
)

// lives is for how long a code can be used.
var lives = map[Purpose]time.Duration{Reset: 24 * time.Hour, Invite: 7 * 24 * time.Hour}

// Code lets somebody who reads the mail of a user act for the user, once. The text that
// the mail has is not in it.
type Code struct {
	ID      string    `json:"id"`
	Portal  tenant.ID `json:"org_id"`
	Purpose Purpose   `json:"Purpose"`
	UserID  table.ID  `json:"UserID"`
	Digest  string    `json:"Digest"`
	Expires time.Time `json:"Expires"`
}

// NewCode makes a code for a user.
func NewCode(id, digest string, p Purpose, u account.User, now time.Time) Code {
	return Code{ID: id, Portal: u.Portal, Purpose: p, UserID: u.ID, Digest: digest, Expires: now.Add(lives[p])}
}

// Over reports whether the code can be used no more.
func (c Code) Over(now time.Time) bool {
	return expiry.Over(c.Expires, now, lives[c.Purpose])
}

// Fits reports whether the state of a user admits the code: an active user needs no
// invitation, and an inactive one has no password to forget.
func (c Code) Fits(u account.User) bool {
	if c.Purpose == Invite {
		return u.State() == account.Inactive
	}
	return u.Can(account.Forget) && u.Provider == account.OwnPassword
}
