// Package session models the sessions of browsers: for how long one holds, what proves
// that a call comes from our own pages, and how guesses of passwords are limited.
package session

import (
	"crypto/subtle"
	"time"
	"unicode"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name of sessions in storage.
const Kind = "session"

// Most is how many sessions of one user hold at a time. A further login ends the oldest.
const Most = 20

// Session lets a browser act as a user. The token that the browser has is not in it.
type Session struct {
	ID      string    `json:"id"`
	OrgID   tenant.ID `json:"org_id"`
	UserID  string    `json:"user_id"`
	Digest  string    `json:"digest"` // keyed digest of the token
	Created time.Time `json:"created_at"`
	Expires time.Time `json:"expires_at"`
	Used    time.Time `json:"used_at,omitzero"`  // to the minute or so
	Address string    `json:"address,omitempty"` // from which the login came
	Agent   string    `json:"agent,omitempty"`   // what the browser said it is
	// Person is whom an identity broker has recognised; nil: the user gave a password.
	Person *Person `json:"person,omitempty"`
	// Guest says that the person has no user: UserID is a name for the address.
	Guest bool `json:"guest,omitempty"`
}

// Over reports whether the session has ended. One that begins further ahead than it lasts was
// begun by a clock that has been put back since, and would hold until that time comes.
func (s Session) Over(now time.Time) bool {
	return !now.Before(s.Expires) || s.Created.Sub(now) > s.Expires.Sub(s.Created)
}

// LastUse is when the session was last used: its login is a use.
func (s Session) LastUse() time.Time {
	if s.Used.Before(s.Created) {
		return s.Created
	}
	return s.Used
}

// maxAgent is how many characters of what a browser says it is are kept.
const maxAgent = 250

// Agent returns what a browser says it is as it is kept: one line of letters that can be
// shown, and no more than a browser that is honest needs.
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

// Ended returns the session as one that cannot be used any more.
func (s Session) Ended() Session {
	s.Expires = time.Time{}
	return s
}

// Proven reports whether what a browser sends is one of the values that prove a call,
// in constant time. An empty text proves nothing.
func Proven(sent string, values []string) bool {
	ok := 0
	for _, v := range values {
		ok |= subtle.ConstantTimeCompare([]byte(sent), []byte(v))
	}
	return sent != "" && ok == 1
}

// Excess returns the sessions of a user that end when it logs in once more: all of them
// if it may have only one, else the oldest of those that still hold.
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
