package event_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/orgrequest"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// The members of messages with their types. Members in brackets are optional.
const (
	user   = "CreatedAt:time CustomAttributes:[{Identifier:text Value:text}] Email:text First:text ID:number Last:text OrgID:number Provider:text Status:text"
	byUser = "ByUser:number "
	access = "AppID:number ByUser:number CreatedAt:time ID:number PlanID:number ProductIDs:[number] Status:text"
	asking = "AdminEmail:text AdminID:number ByUser:number CreatedAt:time Name:text Status:text TeamIDs:[number]"
)

// TestTable: the events and the members of their messages.
func TestTable(t *testing.T) {
	want := map[string]string{
		"UserRegistered": byUser + user, "UserAccountActivated": byUser + user, "UserAccountDeactivated": byUser + user, "RegisterInvite": byUser + user,
		"PasswordReset": user, "OrganisationRequestApproved": user,
		"ApplicationRegistered": "CreatedAt:time ID:number Name:text UserID:number",
		"AccessRequestCreated":  access, "AccessRequestApproved": access, "AccessRequestRejected": access,
		"CredentialRegistered":       "AccessRequestID:number AppID:number ByUser:number CreatedAt:time ID:number",
		"OrganisationRegistered":     "CreatedAt:time ID:number Name:text",
		"OrganisationRequestCreated": asking, "OrganisationRequestRejected": asking,
	}
	for _, row := range event.Table {
		text, err := event.Encode(row.Name, row.Message, 9, time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600)))
		if err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Event, Timestamp string
			Message          map[string]any
		}
		if err := json.Unmarshal(text, &sent); err != nil || sent.Event != row.Name || sent.Timestamp != "2026-01-02T02:04:05.0000006Z" {
			t.Errorf("%s: %v", text, err)
		}
		if have := strings.Trim(described(sent.Message), "{}"); have != want[row.Name] {
			t.Errorf("%s has %s\nwant %s", row.Name, have, want[row.Name])
		}
		if by, ok := sent.Message["ByUser"]; ok && by != 9.0 {
			t.Errorf("%s was caused by %v", row.Name, by)
		}
		delete(want, row.Name)
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", slices.Sorted(maps.Keys(want)))
	}
	if row, ok := event.Find("AccessRequestApproved"); !ok || row.Name != "AccessRequestApproved" {
		t.Error(row)
	}
	if row, ok := event.Find("OrganizationRegistered"); ok {
		t.Error(row)
	}
}

// described returns a value with its values replaced by their types.
func described(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+":"+described(v[name]))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case []any:
		return "[" + described(v[0]) + "]"
	case float64:
		return "number"
	case string:
		if _, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return "time"
		}
		return "text"
	}
	return fmt.Sprintf("%T", v)
}

// TestTold: exactly the events of the sources are marked as told.
func TestTold(t *testing.T) {
	told := slices.Concat(event.OfUsers.Names, event.OfOrganisations.Names, event.OfRequests.Names, event.OfApps.Names, event.OfAccessRequests.Names, event.OfCredentials.Names)
	for _, row := range event.Table {
		if row.Told != slices.Contains(told, row.Name) {
			t.Errorf("%s: told is %v", row.Name, row.Told)
		}
	}
}

// TestAccessRequests: a request that is approved at once is created as approved. It waits for
// an administrator only if the approval fails.
func TestAccessRequests(t *testing.T) {
	waits := request.Request{Base: table.Base{ID: 3}, Status: request.Pending}
	atOnce, approved, rejected := waits, waits, waits
	atOnce.ProvisionImmediately = true
	approved.Status, rejected.Status = request.Approved, request.Rejected
	for _, c := range []struct {
		before, after *request.Request
		want          string
	}{
		{nil, &waits, "AccessRequestCreated:pending AccessRequestWaits:pending"},
		{nil, &atOnce, "AccessRequestCreated:approved"},
		{&atOnce, &waits, "AccessRequestWaits:pending"},
		{&waits, &waits, ""}, {&waits, nil, ""}, {&approved, &approved, ""},
		{&atOnce, &approved, "AccessRequestApproved:approved"}, {&waits, &approved, "AccessRequestApproved:approved"},
		{&waits, &rejected, "AccessRequestRejected:rejected"}, {&rejected, &waits, ""},
	} {
		var got []string
		for _, told := range event.OfAccessRequests.Of(c.before, c.after) {
			got = append(got, told.Name+":"+told.Message.(event.AccessRequest).Status)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v, %+v: %v, want %s", c.before, c.after, got, c.want)
		}
	}
}

// TestUsers: changes of users that cause events.
func TestUsers(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	off := account.User{Base: table.Base{ID: 3, CreatedAt: at}, Email: "a@example.com", First: "Ada", OrganisationID: 2, Provider: "password", PasswordHash: "hash", Token: "token"}
	on, renamed := off, off
	on.Active, renamed.First = true, "Bea"
	for _, c := range []struct {
		what          string
		before, after *account.User
		want, status  string
	}{
		{"made", nil, &off, "UserRegistered", "inactive"},
		{"made active", nil, &on, "UserRegistered", "active"},
		{"switched on", &off, &on, "UserAccountActivated", "active"},
		{"switched off", &on, &off, "UserAccountDeactivated", "inactive"},
		{"renamed", &off, &renamed, "", ""},
		{"deleted", &on, nil, "", ""},
	} {
		told := event.OfUsers.Of(c.before, c.after)
		if c.want == "" {
			if len(told) != 0 {
				t.Errorf("%s: %+v", c.what, told)
			}
			continue
		}
		if len(told) != 1 || told[0].Name != c.want {
			t.Fatalf("%s: %+v", c.what, told)
		}
		text, err := event.Encode(told[0].Name, told[0].Message, 0, at)
		want := `{"Event":"` + c.want + `","Message":{"ID":3,"Email":"a@example.com","First":"Ada","Last":"","OrgID":2,"Provider":"password","Status":"` + c.status +
			`","CreatedAt":"2026-01-02T03:04:05Z","CustomAttributes":[]},"Timestamp":"2026-01-02T03:04:05Z"}`
		if err != nil || string(text) != want {
			t.Errorf("%s: %s, %v\nwant %s", c.what, text, err, want)
		}
	}
}

// TestOrganisations: changes of organisations that cause events.
func TestOrganisations(t *testing.T) {
	o := organisation.Organisation{Base: table.Base{ID: 2}, Name: "Acme"}
	told := event.OfOrganisations.Of(nil, &o)
	if len(told) != 1 || told[0].Name != "OrganisationRegistered" || told[0].Message.(event.Organisation).Name != "Acme" {
		t.Errorf("%+v", told)
	}
	if more := append(event.OfOrganisations.Of(&o, &o), event.OfOrganisations.Of(&o, nil)...); len(more) != 0 {
		t.Errorf("%+v", more)
	}
}

// TestLongAttributes: long values of attributes do not prevent an event.
func TestLongAttributes(t *testing.T) {
	u := account.User{Email: "ada@example.com"}
	for i := range 40 {
		u.Attributes = append(u.Attributes, attribute.Value{Identifier: fmt.Sprint("a", i), Value: strings.Repeat("<", 4000)})
	}
	told := event.OfUsers.Of(nil, &u)
	text, err := json.Marshal(told[0].Message)
	if err != nil || len(text) > delivery.MaxBody-1024 || !strings.Contains(string(text), "…") {
		t.Error(len(text), err)
	}
}

// TestOthers: events of new records; changes and deletions of them cause none.
func TestOthers(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	base := table.Base{ID: 4, CreatedAt: at}
	app, c := application.App{Base: base, Name: "Till", UserID: 5}, credential.Credential{Base: base, RequestID: 6, AppID: 7}
	told := append(event.OfApps.Of(nil, &app), event.OfCredentials.Of(nil, &c)...)
	want := []event.Told{
		{Name: "ApplicationRegistered", Message: event.App{ID: 4, Name: "Till", UserID: 5, CreatedAt: at.UTC()}},
		{Name: "CredentialRegistered", Message: event.Credential{ID: 4, AccessRequestID: 6, AppID: 7, CreatedAt: at.UTC()}},
	}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("%+v\nwant %+v", told, want)
	}
	more := slices.Concat(event.OfApps.Of(&app, &app), event.OfApps.Of(&app, nil), event.OfCredentials.Of(&c, &c), event.OfCredentials.Of(&c, nil))
	if len(more) > 0 {
		t.Errorf("%+v", more)
	}
}

// TestOrganisationRequests: the creation and the rejection of a request are events.
func TestOrganisationRequests(t *testing.T) {
	pending := orgrequest.New(account.User{Base: table.Base{ID: 3}, Email: "a@b.example"})
	pending.Name = "Acme"
	rejected, approved := pending, pending
	rejected.Status, approved.Status = orgrequest.Rejected, orgrequest.Approved
	for name, c := range map[string]struct {
		before, after *orgrequest.Request
		want          string
	}{
		"made": {nil, &pending, "OrganisationRequestCreated"}, "rejected": {&pending, &rejected, "OrganisationRequestRejected"},
		"approved": {&pending, &approved, ""}, "as it was": {&rejected, &rejected, ""}, "deleted": {&pending, nil, ""},
	} {
		told := event.OfRequests.Of(c.before, c.after)
		if c.want == "" && len(told) > 0 || c.want != "" && (len(told) != 1 || told[0].Name != c.want) {
			t.Fatalf("%s: %+v", name, told)
		}
		for _, one := range told {
			if m := one.Message.(event.OrgRequest); m.Name != "Acme" || m.AdminEmail != "a@b.example" || m.AdminID != 3 || m.Status != string(c.after.Status) {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
}
