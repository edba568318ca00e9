// Package session models the sessions of browsers: how long they are valid, how a call proves
// that it comes from a page of this service, and the limits for guesses of passwords.
package session

import (
	"crypto/subtle"
	"time"
	"unicode"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name of sessions in storage.
const Kind = "session"

// Most is the maximum number of valid sessions of one user. A further login ends the oldest
// session.
const Most = 20

// Session lets a browser act as a user. It does not contain the token that the browser has.
type Session struct {
	ID      string    `json:"id"`
	OrgID   tenant.ID `json:"org_id"`
	UserID  string    `json:"user_id"`
	Digest  string    `json:"digest"` // keyed digest of the token
	Created time.Time `json:"created_at"`
	Expires time.Time `json:"expires_at"`
	Used    time.Time `json:"used_at,omitzero"`  // exact to about a minute
	Address string    `json:"address,omitempty"` // client address of the login
	Agent   string    `json:"agent,omitempty"`   // User-Agent of the browser
	// Person is the person whom an identity broker has authenticated; nil: the user gave a
	// password.
	Person *Person `json:"person,omitempty"`
	// Guest says that the person has no user: UserID is then a name for the address.
	Guest bool `json:"guest,omitempty"`
}

// Over reports whether the session has ended. A session is also over if it was created further
// in the future than its lifetime: the clock was put back since, and the session would stay
// valid until that time comes.
func (s Session) Over(now time.Time) bool {
	return !now.Before(s.Expires) || s.Created.Sub(now) > s.Expires.Sub(s.Created)
}

// LastUse is when the session was last used: the login is a use.
func (s Session) LastUse() time.Time {
	if s.Used.Before(s.Created) {
		return s.Created
	}
	return s.Used
}

// maxAgent is the maximum length of a stored User-Agent in characters.
const maxAgent = 250

// Agent returns the User-Agent of a browser as it is stored: one line of printable characters,
// cut to a length that is enough for real browsers.
func Agent(said string) string {
	kept := make([]rune, 0, maxAgent)
	for _, r := range said {
		if len(kept) == maxAgent {
			break
		}
		if r != unicode.ReplacementChar && unicode.IsPrint(r) {
			kept = append(kept, r)
		}
	}
	return string(kept)
}

// Ended returns the session as expired.
func (s Session) Ended() Session {
	s.Expires = time.Time{}
	return s
}

// Proven reports whether the text that a browser sends is one of the values that prove a call,
// in constant time. An empty text proves nothing.
func Proven(sent string, values []string) bool {
	ok := 0
	for _, v := range values {
		ok |= subtle.ConstantTimeCompare([]byte(sent), []byte(v))
	}
	return sent != "" && ok == 1
}

// Excess returns the sessions of a user that end at its next login: all of them if the user
// may have only one, else the oldest of those that are still valid.
func Excess(all []Session, now time.Time, one bool) (out []Session) {
	var holding []Session
	for _, s := range all {
		if !s.Over(now) {
			holding = append(holding, s)
		}
	}
	if one {
		return holding
	}
	for len(holding) >= Most {
		oldest := 0
		for i, s := range holding {
			if s.Created.Before(holding[oldest].Created) {
				oldest = i
			}
		}
		out = append(out, holding[oldest])
		holding = append(holding[:oldest], holding[oldest+1:]...)
	}
	return out
}
