// Package letter models the mails of the portal: their causes, recipients and states
// (docs/wire/portal-mails.md).
package letter

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Recipient is a group of recipients of a mail.
type Recipient int

// The recipients of mails.
const (
	Person Recipient = iota // the user whom the event or the use case is about
	Admins                  // all active admins
	Asker                   // the user who requested the access that the event is about
)

// Facts is the data that mails use from the message of any event.
type Facts struct {
	ID         table.ID
	Email      string
	First      string
	Last       string
	OrgID      table.ID
	Status     string
	ByUser     table.ID
	AppID      table.ID
	ProductIDs []table.ID
	Name       string
	AdminEmail string
	AdminID    table.ID
}

// Admin reports whether the event is about an admin: admins have no organisation.
func (f Facts) Admin() bool { return f.OrgID == 0 }

// Waiting reports whether the event is about a user who registered without an invitation and
// waits for approval.
func (f Facts) Waiting() bool {
	return f.Status == "inactive" && !f.Admin() && (f.ByUser == 0 || f.ByUser == f.ID)
}

// Notice is one sort of mail.
type Notice struct {
	Name    string // of the templates below mailers
	Event   string // event that causes it; "": a use case causes it
	To      Recipient
	Subject string // default subject
	Fixed   bool   // the settings cannot change the subject
	// When reports whether an event of that name causes the mail; nil: each one does.
	When func(Facts) bool
	// Choice describes the mail to users who may switch it off; "": it is always sent.
	Choice string
}

// Names of the mails that are not caused by an event.
const (
	ResetPassword = "auth/reset_password"
	Invite        = "auth/targeted_invite"
	InviteAdmin   = Invite + "_admin" // key for the subject of an admin's invitation; the mail is Invite
	ToExpire      = "keytoexpire"
	Expired       = "keyexpired"

	CertificateToExpire = "certificatetoexpire"
	CertificateExpired  = "certificateexpired"
)

// Table lists the mails.
var Table = []Notice{
	{Name: ResetPassword, To: Person, Subject: "Reset password"},
	{Name: Invite, To: Person, Subject: "Invitation to the developer portal"},
	{Name: "submitted", Event: event.AccessRequestWaits, To: Admins, Subject: "Access request sent for approval", Fixed: true, Choice: "A developer asks for access"},
	{Name: "approve", Event: event.AccessRequestApproved, To: Asker, Subject: "Access request approved", Choice: "A request for access is approved"},
	{Name: "reject", Event: event.AccessRequestRejected, To: Asker, Subject: "Access request rejected", Choice: "A request for access is rejected"},
	{Name: "newuser", Event: event.UserRegistered, To: Admins, Subject: "A developer waits for approval", When: Facts.Waiting, Choice: "A developer waits for approval"},
	{Name: "activate", Event: event.UserAccountActivated, To: Person, Subject: "Your account is active"},
	{Name: "deactivate", Event: event.UserAccountDeactivated, To: Person, Subject: "Your account is not active any more"},
	{Name: "organisation_request", Event: event.OrganisationRequestCreated, To: Admins, Subject: "A developer asks for an organisation", Choice: "A developer asks for an organisation"},
	{Name: "organisation_approve", Event: event.OrganisationRequestApproved, To: Person, Subject: "Your organisation is approved", Choice: "Your request for an organisation is approved"},
	{Name: "organisation_reject", Event: event.OrganisationRequestRejected, To: Person, Subject: "Your organisation is rejected", Choice: "Your request for an organisation is rejected"},
	{Name: "welcome_admin", Event: event.UserRegistered, To: Person, Subject: "Welcome to the developer portal", When: Facts.Admin},
	{Name: "welcome_dev", Event: event.UserRegistered, To: Person, Subject: "Welcome to the developer portal", When: func(f Facts) bool { return !f.Admin() }},
	{Name: ToExpire, To: Person, Subject: "Your Credential is about to expire", Fixed: true, Choice: "A credential is about to expire"},
	{Name: Expired, To: Person, Subject: "Your Credential has expired", Fixed: true, Choice: "A credential has expired"},
	{Name: CertificateToExpire, To: Person, Subject: "A certificate is about to expire", Choice: "A certificate of the organisation is about to expire"},
	{Name: CertificateExpired, To: Person, Subject: "A certificate has expired", Choice: "A certificate of the organisation has expired"},
}

// Find returns a sort of mail by its name.
func Find(name string) (Notice, bool) {
	for _, n := range Table {
		if n.Name == name {
			return n, true
		}
	}
	return Notice{}, false
}

// Choices returns the mails that an admin, or a developer, may switch off. Mails about the
// user's own account are always sent.
func Choices(admin bool) (out []Notice) {
	for _, n := range Table {
		if n.Choice != "" && (admin || n.To != Admins) {
			out = append(out, n)
		}
	}
	return out
}

// Of returns the mails that an event causes.
func Of(name string, f Facts) (out []Notice) {
	for _, n := range Table {
		if n.Event == name && name != "" && (n.When == nil || n.When(f)) {
			out = append(out, n)
		}
	}
	return out
}

// Causes reports whether events of a name can cause mails.
func Causes(name string) bool {
	for _, n := range Table {
		if n.Event == name && name != "" {
			return true
		}
	}
	return false
}

// maxSubject is the maximum length of a subject in characters.
const maxSubject = 200

// Title returns the subject of a mail: from the settings, a JSON object by name, or from the
// table. Names may be without the folder. closer are more specific names, which take
// precedence over the name of the mail.
func (n Notice) Title(subjects string, closer ...string) string {
	var own map[string]any
	if n.Fixed || json.Unmarshal([]byte(subjects), &own) != nil {
		return n.Subject
	}
	for _, whole := range append(closer, n.Name) {
		for _, name := range []string{whole, whole[strings.LastIndexByte(whole, '/')+1:]} {
			text, _ := own[name].(string)
			if runes := []rune(Line(text)); len(runes) > 0 {
				return strings.TrimSpace(string(runes[:min(len(runes), maxSubject)]))
			}
		}
	}
	return n.Subject
}

// Line makes a single line of a user's text, so that it cannot add a header, or a paragraph
// that seems to be from the portal.
func Line(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text))
}
