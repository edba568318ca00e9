package session

import (
	"time"

	"github.com/gatehouse-io/gatehouse/core/expiry"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// ResetKind is the name of resets in storage.
const ResetKind = "password-reset"

// ResetLife is how long a mail about a forgotten password can be used.
const ResetLife = 1000 * time.Second

// Reset lets a reader of the user's mail set another password, once. It does not contain the
// code that is in the mail.
type Reset struct {
	ID      string    `json:"id"`
	OrgID   tenant.ID `json:"org_id"`
	UserID  string    `json:"user_id"`
	Digest  string    `json:"digest"` // keyed digest of the code
	Email   string    `json:"email_address"`
	Since   time.Time `json:"password_updated"` // when the forgotten password was set
	Expires time.Time `json:"expires_at"`
}

// NewReset makes a reset for a user in its present state.
func NewReset(id, digest string, u identity.User, now time.Time) Reset {
	return Reset{ID: id, OrgID: u.OrgID, UserID: u.ID, Digest: digest, Email: u.Email, Since: u.PasswordUpdated, Expires: now.Add(ResetLife)}
}

// Over reports whether the reset has expired.
func (r Reset) Over(now time.Time) bool {
	return expiry.Over(r.Expires, now, ResetLife)
}

// Fits reports whether u is the user that the mail was sent to, is active, and still has the
// same address and the same password.
func (r Reset) Fits(u identity.User) bool {
	return u.ID == r.UserID && u.OrgID == r.OrgID && u.Active && u.Email == r.Email && u.PasswordUpdated.Equal(r.Since)
}

// Forgetful reports whether a user can have forgotten its password. A user without a password
// logs in another way, such as single sign-on, and must not use a mail instead.
func Forgetful(u identity.User) bool {
	return u.Active && u.OrgID != "" && u.Credentials.PasswordHash != ""
}
