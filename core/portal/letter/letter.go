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

// State is the state of a mail.
type State string

// The states of a mail.
const (
	Pending State = "pending"
	Done    State = "done"
	Failed  State = "failed"
)

// Limits of mails.
const (
	MaxAttempts = 3              // attempts that the server refuses
	MaxAge      = 24 * time.Hour // of a mail that could not be sent because no server was reachable
	KeepDone    = 24 * time.Hour // how long a sent mail is remembered
	KeepFailed  = 30 * 24 * time.Hour
	MaxPending  = 50_000
	maxError    = 200
	firstPause  = 30 * time.Second
	longest     = 15 * time.Minute
)

// Mail is a mail that is waiting, sent or failed.
type Mail struct {
	ID       string    `json:"id"`
	Portal   tenant.ID `json:"org_id"`
	Notice   string    `json:"notice"`
	To       string    `json:"to,omitempty"`   // of a pending or failed mail
	Data     string    `json:"data,omitempty"` // sealed: the data for the templates
	State    State     `json:"state"`
	Refused  int       `json:"refused,omitempty"` // attempts that the server refused
	Tries    int       `json:"tries,omitempty"`
	Created  time.Time `json:"created_at"`
	Next     time.Time `json:"next_attempt_at,omitzero"`
	Ended    time.Time `json:"ended_at,omitzero"`
	LastFail string    `json:"error,omitempty"`
}

// New returns a mail. Its ID depends only on cause, notice and recipient.
func New(org tenant.ID, cause string, n Notice, to string, at time.Time) Mail {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s", org, cause, n.Name, to))
	return Mail{ID: hex.EncodeToString(sum[:12]), Portal: org, Notice: n.Name, To: to, State: Pending, Created: at.UTC(), Next: at.UTC()}
}

// Sent returns the mail after a server has accepted it. Its content is removed.
func (m Mail) Sent(at time.Time) Mail {
	m.State, m.Ended, m.Next, m.LastFail, m.Data, m.To = Done, at.UTC(), time.Time{}, "", "", ""
	m.Tries++
	return m
}

// After returns the mail after a failed attempt. spared says that the failure is temporary,
// for example because no server could be reached: such an attempt does not count, but the age
// of the mail does.
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

// Due reports whether the next attempt is due. A time further ahead than any pause was set by
// a clock that has been put back since: waiting for it could take for ever, so the attempt is
// due.
func (m Mail) Due(at time.Time) bool {
	wait := m.Next.Sub(at)
	return m.State == Pending && (wait <= 0 || wait > longest)
}

// Forgettable reports whether a finished mail can be deleted.
func (m Mail) Forgettable(at time.Time) bool {
	return m.State == Done && at.Sub(m.Ended) > KeepDone || m.State == Failed && at.Sub(m.Ended) > KeepFailed
}

// Mark records that a mail about the expiry of a credential was sent.
type Mark struct {
	ID      string    `json:"id"`
	Portal  tenant.ID `json:"org_id"`
	Expires time.Time `json:"expires"`
}

// MarkID returns the ID of the mark of a notice about a credential or a certificate.
func MarkID(of table.ID, notice string) string { return of.Key() + "-" + notice }

// Expiry is a credential that expires, or a managed certificate.
type Expiry struct {
	Credential  table.ID
	Certificate table.ID // 0: a credential
	Name        string   // shown to the recipients
	Owner       table.ID // of the credential
	// Organisations are those of the certificate: their users are notified, and all admins.
	Organisations []table.ID
	Expires       time.Time
}

// Subject returns the ID of the expiring object, and its name for templates.
func (e Expiry) Subject() (table.ID, string) {
	if e.Certificate != 0 {
		return e.Certificate, "certificate"
	}
	return e.Credential, "credential"
}

// AfterExpiry is how long an owner can still be told of the expiry of a credential, if no
// process could do it before.
const AfterExpiry = 7 * 24 * time.Hour

// Due returns the notice that is due; false: none is.
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
