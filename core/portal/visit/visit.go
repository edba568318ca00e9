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

// Most is the maximum number of valid sessions of one user. A further login ends the oldest
// session.
const Most = 20

// Session lets a browser act as a user. It does not contain the token that the browser has.
type Session struct {
	ID      string    `json:"id"`
	Portal  tenant.ID `json:"org_id"`
	UserID  table.ID  `json:"UserID"`
	Digest  string    `json:"Digest"` // keyed digest of the token
	Agent   string    `json:"Agent"`  // keyed digest of the User-Agent of the browser
	Created time.Time `json:"Created"`
	Seen    time.Time `json:"Seen"` // approximate time of the last use
}

// Rules say how long sessions are valid.
type Rules struct{ Life, Idle time.Duration }

// Over reports whether the session has ended. A session is also over if it was created further
// in the future than Life, or used further in the future than Idle: it is from before a clock
// was put back, and would stay valid until that time comes.
func (s Session) Over(r Rules, now time.Time) bool {
	return !now.Before(s.Created.Add(r.Life)) || !now.Before(s.Seen.Add(r.Idle)) ||
		s.Created.Sub(now) > r.Life || s.Seen.Sub(now) > r.Idle
}

// touches is how often the use of a session is noted during an idle time: each note is a
// write.
const touches = 12

// Stale reports whether the use of the session must be noted, so that it does not end.
func (s Session) Stale(r Rules, now time.Time) bool { return now.Sub(s.Seen) >= r.Idle/touches }

// Excess returns the sessions of a user that end when a new one begins: those that are over,
// and the oldest of the others.
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
	Reset  Purpose = "reset"  // set another password in place of a forgotten one
	Invite Purpose = "invite" // finish a registration that an admin began
)

// lives is how long a code can be used.
var lives = map[Purpose]time.Duration{Reset: 24 * time.Hour, Invite: 7 * 24 * time.Hour}

// Code lets a reader of the user's mail act for the user, once. It does not contain the text
// that is in the mail.
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

// Over reports whether the code has expired.
func (c Code) Over(now time.Time) bool {
	return expiry.Over(c.Expires, now, lives[c.Purpose])
}

// Fits reports whether a code is of use in the state of a user: an active user needs no
// invitation, and an inactive user has no password to forget.
func (c Code) Fits(u account.User) bool {
	if c.Purpose == Invite {
		return u.State() == account.Inactive
	}
	return u.Can(account.Forget) && u.Provider == account.OwnPassword
}
