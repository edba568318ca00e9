package letter

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind and MarkKind are the names of the resources in storage.
const (
	Kind     = "portal-mail"
	MarkKind = "portal-mail-mark"
)

// State says how far a mail has come.
type State string

// The states of a mail.
const (
	Pending State = "pending"
	Done    State = "done"
	Failed  State = "failed"
)

// Bounds of mails.
const (
	MaxAttempts = 3              // that the server refuses
	MaxAge      = 24 * time.Hour // of a mail for which no server could be reached
	KeepDone    = 24 * time.Hour // it is known for so long that a mail was sent
	KeepFailed  = 30 * 24 * time.Hour
	MaxPending  = 50_000
	maxError    = 200
	firstPause  = 30 * time.Second
	longest     = 15 * time.Minute
)

// Mail is a mail that is sent, or was.
type Mail struct {
	ID       string    `json:"id"`
	Portal   tenant.ID `json:"org_id"`
	Notice   string    `json:"notice"`
	To       string    `json:"to,omitempty"`   // of a pending mail, or one that failed
	Data     string    `json:"data,omitempty"` // sealed: what the templates are given
	State    State     `json:"state"`
	Refused  int       `json:"refused,omitempty"` // attempts that the server refused
	Tries    int       `json:"tries,omitempty"`
	Created  time.Time `json:"created_at"`
	Next     time.Time `json:"next_attempt_at,omitzero"`
	Ended    time.Time `json:"ended_at,omitzero"`
	LastFail string    `json:"error,omitempty"`
}

// New returns a mail. The same cause, notice and recipient make the same mail.
func New(org tenant.ID, cause string, n Notice, to string, at time.Time) Mail {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s", org, cause, n.Name, to))
	return Mail{ID: hex.EncodeToString(sum[:12]), Portal: org, Notice: n.Name, To: to, State: Pending, Created: at.UTC(), Next: at.UTC()}
}

// Sent returns the mail when the server has it. What it said is forgotten.
func (m Mail) Sent(at time.Time) Mail {
	m.State, m.Ended, m.Next, m.LastFail, m.Data, m.To = Done, at.UTC(), time.Time{}, "", "", ""
	m.Tries++
	return m
}

// After returns the mail after an attempt that failed. spared says that the mail was not refused
// for good, as where no server could be reached: such attempts do not count, but the age of the
// mail does.
func (m Mail) After(at time.Time, why string, spared bool) Mail {
	m.Tries++
	if !spared {
		m.Refused++
	}
	m.LastFail = why[:min(len(why), maxError)]
	if m.Refused >= MaxAttempts || at.Sub(m.Created) > MaxAge {
		m.State, m.Ended, m.Next, m.Data = Failed, at.UTC(), time.Time{}, ""
		return m
	}
	m.Next = at.Add(min(firstPause<<min(m.Tries-1, 10), longest)).UTC()
	return m
}

// Due reports whether it is time for the next attempt. A time that is further ahead than any pause
// was set by a clock that has been put back since: to wait for it could take for ever.
func (m Mail) Due(at time.Time) bool {
	wait := m.Next.Sub(at)
	return m.State == Pending && (wait <= 0 || wait > longest)
}

// Forgettable reports whether a mail that has ended need not be known any more.
func (m Mail) Forgettable(at time.Time) bool {
	return m.State == Done && at.Sub(m.Ended) > KeepDone || m.State == Failed && at.Sub(m.Ended) > KeepFailed
}

// Mark says that a mail about the expiry of a credential was sent.
type Mark struct {
	ID      string    `json:"id"`
	Portal  tenant.ID `json:"org_id"`
	Expires time.Time `json:"expires"`
}

// MarkID names the mark of a notice about a credential or a certificate.
func MarkID(of table.ID, notice string) string { return of.Key() + "-" + notice }

// Expiry is a credential that ends, or a certificate that administrators manage.
type Expiry struct {
	Credential  table.ID
	Certificate table.ID // 0: it is a credential
	Name        string   // for those who hear of it
	Owner       table.ID // of the credential
	// Organisations are those of the certificate: their people hear of it, and all admins.
	Organisations []table.ID
	Expires       time.Time
}

// Subject returns the number of what ends, and how templates know it.
func (e Expiry) Subject() (table.ID, string) {
	if e.Certificate != 0 {
		return e.Certificate, "certificate"
	}
	return e.Credential, "credential"
}

// AfterExpiry is for how long an owner is told that a credential has expired, if no process was
// able to tell before.
const AfterExpiry = 7 * 24 * time.Hour

// Due returns the notice that is due, and false when none is.
func (e Expiry) Due(now time.Time, warning time.Duration) (string, bool) {
	soon, over := ToExpire, Expired
	if e.Certificate != 0 {
		soon, over = CertificateToExpire, CertificateExpired
	}
	switch {
	case e.Expires.IsZero() || now.Sub(e.Expires) > AfterExpiry:
		return "", false
	case !now.Before(e.Expires):
		return over, true
	case e.Expires.Sub(now) <= warning:
		return soon, true
	}
	return "", false
}
