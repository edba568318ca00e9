package letter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
)

// TestTable: the mails of events.
func TestTable(t *testing.T) {
	for _, c := range []struct {
		event string
		facts letter.Facts
		want  string
	}{
		{event.UserRegistered, letter.Facts{ID: 7, OrgID: 1, Status: "active", ByUser: 1}, "welcome_dev"},
		{event.UserRegistered, letter.Facts{ID: 7, OrgID: 1, Status: "inactive", ByUser: 1}, "welcome_dev"},
		{event.UserRegistered, letter.Facts{ID: 7, OrgID: 1, Status: "inactive"}, "newuser welcome_dev"},
		{event.UserRegistered, letter.Facts{ID: 7, OrgID: 1, Status: "inactive", ByUser: 7}, "newuser welcome_dev"},
		{event.UserRegistered, letter.Facts{ID: 7, Status: "inactive"}, "welcome_admin"},
		{event.UserAccountActivated, letter.Facts{}, "activate"},
		{event.UserAccountDeactivated, letter.Facts{}, "deactivate"},
		{event.AccessRequestWaits, letter.Facts{Status: "pending"}, "submitted"},
		{event.AccessRequestCreated, letter.Facts{Status: "approved"}, ""},
		{event.AccessRequestApproved, letter.Facts{Status: "approved"}, "approve"},
		{event.AccessRequestRejected, letter.Facts{}, "reject"},
		{event.OrganisationRequestCreated, letter.Facts{Status: "pending"}, "organisation_request"},
		{event.OrganisationRequestCreated, letter.Facts{Status: "approved"}, "organisation_request"}, // approved automatically
		{event.OrganisationRequestApproved, letter.Facts{}, "organisation_approve"},
		{event.OrganisationRequestRejected, letter.Facts{}, "organisation_reject"},
		{event.PasswordReset, letter.Facts{}, ""},
		{event.ApplicationRegistered, letter.Facts{}, ""},
		{"", letter.Facts{}, ""},
	} {
		var got []string
		for _, n := range letter.Of(c.event, c.facts) {
			got = append(got, n.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %+v: %q, want %q", c.event, c.facts, got, c.want)
		}
	}
	for _, row := range event.Table {
		if letter.Causes(row.Name) != (len(letter.Of(row.Name, letter.Facts{OrgID: 1})) > 0) {
			t.Error(row.Name)
		}
	}
}

// TestChoices: the mails that users may switch off; none about their own account.
func TestChoices(t *testing.T) {
	for admin, want := range map[bool]string{
		false: "approve reject organisation_approve organisation_reject keytoexpire keyexpired certificatetoexpire certificateexpired",
		true:  "submitted approve reject newuser organisation_request organisation_approve organisation_reject keytoexpire keyexpired certificatetoexpire certificateexpired",
	} {
		var got []string
		for _, n := range letter.Choices(admin) {
			got = append(got, n.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("admin %t: %q", admin, got)
		}
	}
}

func TestTitle(t *testing.T) {
	reset, _ := letter.Find(letter.ResetPassword)
	fixed, _ := letter.Find(letter.Expired)
	for subjects, want := range map[string]string{
		"": reset.Subject, "{": reset.Subject, `{"auth/reset_password":"A"}`: "A", `{"reset_password":"B"}`: "B", `{"reset_password":""}`: reset.Subject, `{"reset_password":7}`: reset.Subject,
		`{"reset_password":"a\r\nBcc: x@y.example"}`: "a  Bcc: x@y.example",
	} {
		if got := reset.Title(subjects); got != want {
			t.Errorf("%s: %q", subjects, got)
		}
	}
	if got := reset.Title(`{"reset_password":"any","reset_password_soon":"closer"}`, "auth/reset_password_now", "auth/reset_password_soon"); got != "closer" {
		t.Error(got)
	}
	if fixed.Title(`{"keyexpired":"x"}`) != fixed.Subject || len(reset.Title(`{"reset_password":"`+strings.Repeat("x", 1000)+`"}`)) != 200 {
		t.Error("a fixed subject changes, or one has no end")
	}
}

func TestMails(t *testing.T) {
	n, _ := letter.Find(letter.Invite)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := letter.New("portal:a", "cause", n, "ada@example.com", at)
	if m.ID != letter.New("portal:a", "cause", n, "ada@example.com", at.Add(time.Hour)).ID || m.ID == letter.New("portal:b", "cause", n, "ada@example.com", at).ID || m.ID == letter.New("portal:a", "cause", n, "bob@example.com", at).ID {
		t.Error("the name of a mail is not made of its cause")
	}
	away, refused := m, m
	for range 60 {
		away = away.After(at.Add(time.Hour), "away", true)
	}
	for range letter.MaxAttempts {
		refused = refused.After(at, strings.Repeat("x", 1000), false)
	}
	if away.State != letter.Pending || away.Next.Sub(at) != time.Hour+15*time.Minute || away.After(at.Add(25*time.Hour), "away", true).State != letter.Failed {
		t.Errorf("%+v", away)
	}
	if refused.State != letter.Failed || len(refused.LastFail) > 200 || refused.Forgettable(at.Add(time.Hour)) || !refused.Forgettable(at.Add(31*24*time.Hour)) {
		t.Errorf("%+v", refused)
	}
	if sent := m.Sent(at); sent.State != letter.Done || sent.To != "" || sent.Forgettable(at.Add(23*time.Hour)) || !sent.Forgettable(at.Add(25*time.Hour)) {
		t.Errorf("%+v", sent)
	}
	if first := m.After(at, "x", false); first.Next.Sub(at) != 30*time.Second || first.Due(at) || !first.Due(at.Add(30*time.Second)) || !first.Due(at.Add(-time.Hour)) || m.Sent(at).Due(at) || refused.Due(at) {
		t.Errorf("%+v", first) // one hour earlier: the clock was put back
	}
}

func TestDue(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	week := 7 * 24 * time.Hour
	for after, want := range map[time.Duration]string{week + time.Second: "", week: letter.ToExpire, time.Second: letter.ToExpire, 0: letter.Expired, -week: letter.Expired, -week - time.Second: ""} {
		if got, due := (letter.Expiry{Expires: now.Add(after)}).Due(now, week); got != want || due != (want != "") {
			t.Errorf("%s: %q", after, got)
		}
	}
	for after, want := range map[time.Duration]string{week: letter.CertificateToExpire, 0: letter.CertificateExpired} {
		if got, _ := (letter.Expiry{Certificate: 1, Expires: now.Add(after)}).Due(now, week); got != want {
			t.Errorf("certificate, %s: %q", after, got)
		}
	}
	if _, due := (letter.Expiry{}).Due(now, week); due {
		t.Error("what never ends is due")
	}
}

// TestSubjects: what expires, for the templates of mails, and the marks of what was sent.
func TestSubjects(t *testing.T) {
	for want, e := range map[string]letter.Expiry{"credential 3": {Credential: 3}, "certificate 4": {Certificate: 4}} {
		id, name := e.Subject()
		if got := name + " " + id.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if letter.MarkID(3, letter.ToExpire) == letter.MarkID(3, letter.Expired) || letter.MarkID(3, letter.Expired) == letter.MarkID(4, letter.Expired) {
		t.Error("two mails share a mark")
	}
	if n, ok := letter.Find("no such mail"); ok {
		t.Errorf("%+v", n)
	}
}
