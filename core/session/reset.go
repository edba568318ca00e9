package session

import (
	"time"

	"github.com/gatehouse-io/gatehouse/core/expiry"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// ResetKind is the name of resets in storage.
const ResetKind = "password-reset"

// ResetLife is for how long a mail about a forgotten password can be used.
const ResetLife = 1000 * time.Second

// Reset lets somebody who reads the mail of a user choose another password, once. The
// code that the mail has is not in it.
type Reset struct {
	ID      string    `json:"id"`
	OrgID   tenant.ID `json:"org_id"`
	UserID  string    `json:"user_id"`
	Digest  string    `json:"digest"` // keyed digest of the code
	Email   string    `json:"email_address"`
	Since   time.Time `json:"password_updated"` // of the password that was forgotten
	Expires time.Time `json:"expires_at"`
}

// NewReset makes a reset for a user as it is now.
func NewReset(id, digest string, u identity.User, now time.Time) Reset {
	return Reset{ID: id, OrgID: u.OrgID, UserID: u.ID, Digest: digest, Email: u.Email, Since: u.PasswordUpdated, Expires: now.Add(ResetLife)}
}

// Over reports whether the reset can be used no more.
func (r Reset) Over(now time.Time) bool {
	return expiry.Over(r.Expires, now, ResetLife)
}

// Fits reports whether a user is the one that the mail went to: with the same address,
// active, and without another password since.
func (r Reset) Fits(u identity.User) bool {
	return u.ID == r.UserID && u.OrgID == r.OrgID && u.Active && u.Email == r.Email && u.PasswordUpdated.Equal(r.Since)
}

// Forgetful reports whether a user can have forgotten its password. One without a
// password comes by another way, such as single sign-on, and a mail is no way around it.
func Forgetful(u identity.User) bool {
	return u.Active && u.OrgID != "" && u.Credentials.PasswordHash != ""
}
