package identity_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
)

// members returns n members of an object.
func members(n int, value string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"m%d":%s`, i, value)
	}
	return "{" + strings.Join(list, ",") + "}"
}

func draft(t *testing.T, text string) (d identity.OrganisationDraft) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestOrganisationKeepsMembers: unknown members are returned unchanged, after the known ones;
// a known member in another letter case is the known one.
func TestOrganisationKeepsMembers(t *testing.T) {
	const known = `"owner_slug":"","cname_enabled":false,"cname":"","apis":[],"sso_enabled":false,"developer_quota":0,"developer_count":0,` +
		`"event_options":{},"hybrid_enabled":false,"ui":{},"org_options_meta":{},"open_policy":{"enabled":false,"rules":""},"additional_permissions":{}`
	for text, want := range map[string]string{
		`{}`:                                   `{"id":"o","owner_name":"",` + known + `}`,
		`{"z":1.50,"owner_name":"x","a":[{}]}`: `{"id":"o","owner_name":"x",` + known + `,"z":1.50,"a":[{}]}`,
		`{"OWNER_NAME":"x","Owner":1}`:         `{"id":"o","owner_name":"x",` + known + `,"Owner":1}`,
	} {
		o, err := identity.NewOrganisation("o", draft(t, text))
		if err != nil {
			t.Fatal(err)
		}
		have, err := json.Marshal(o)
		if err != nil || string(have) != want {
			t.Errorf("%s: %v\n%s, want\n%s", text, err, have, want)
		}
		var again identity.Organisation
		if err := json.Unmarshal(have, &again); err != nil {
			t.Error(err)
		}
		if second, err := json.Marshal(again); err != nil || !bytes.Equal(second, have) {
			t.Errorf("%s, then %s, %v", have, second, err)
		}
	}
}

// TestReplaceOrganisation: a replacement replaces all members, and the identifier stays.
func TestReplaceOrganisation(t *testing.T) {
	o, err := identity.NewOrganisation("o", draft(t, `{"owner_name":"x","apis":[{"api_id":"a"}],"more":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if o, err = o.Replace(draft(t, `{"id":"other","owner_slug":"y"}`)); err != nil || o.ID != "o" || o.OwnerName != "" || o.OwnerSlug != "y" || len(o.APIs) != 0 || o.Rest.Len() != 0 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestEmptyObjects: missing objects of an organisation are returned as empty, also for those
// stored without them.
func TestEmptyObjects(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":"o"}`: `"ui":{},"org_options_meta":{},`, `{"id":"o","ui":null,"org_options_meta":null}`: `"ui":{},"org_options_meta":{},`,
		`{"id":"o","ui":{"a":1}}`: `"ui":{"a":1},"org_options_meta":{},`,
	} {
		var o identity.Organisation
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(o); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

// TestOrganisationRefusals: the field of each refusal.
func TestOrganisationRefusals(t *testing.T) {
	for text, want := range map[string]struct{ code, field string }{
		`{"id":"a/b"}`:             {identity.CodeOrganisationID, "id"},
		`{"ui":[]}`:                {identity.CodeOrganisationField, "ui"},
		`{"ui":null}`:              {},
		`{"org_options_meta":"x"}`: {identity.CodeOrganisationField, "org_options_meta"},
		`{"org_options_meta":{}}`:  {},
		`{"event_options":{"api_event":{"webhook":"/relative"}}}`:                                {identity.CodeOrganisationField, "event_options.api_event.webhook"},
		`{"event_options":{"api_event":{"webhook":"https:///path"}}}`:                            {identity.CodeOrganisationField, "event_options.api_event.webhook"},
		`{"event_options":{"api_event":{"secret":"too short"}}}`:                                 {identity.CodeOrganisationField, "event_options.api_event.secret"},
		`{"event_options":{"api_event":{"secret":"whsec_no base64 at all"}}}`:                    {identity.CodeOrganisationField, "event_options.api_event.secret"},
		`{"event_options":{"api_event":{"email":"a@b@c"}}}`:                                      {identity.CodeOrganisationField, "event_options.api_event.email"},
		`{"event_options":{"other":{"webhook":"http://h/","email":"a@b.example","redis":true}}}`: {},
		`{"event_options":` + members(101, `{}`) + `}`:                                           {"organisation.too_many", "event_options"},
		`{"additional_permissions":` + members(201, `"x"`) + `}`:                                 {"organisation.too_many", "additional_permissions"},
		`{"additional_permissions":{"team":"Team"}}`:                                             {},
		`{"additional_permissions":{"team":"Team","APIs":"Ours"}}`:                               {access.CodeCustom, "additional_permissions.APIs"},
		`{"additional_permissions":{"policy":""}}`:                                               {access.CodeCustom, "additional_permissions.policy"},
		`{"additional_permissions":{"":"x"}}`:                                                    {access.CodeCustom, "additional_permissions"},
		`{"additional_permissions":{"team":" x"}}`:                                               {access.CodeCustom, "additional_permissions.team"},
		`{"apis":[` + strings.Repeat(`{},`, 10_000) + `{}]}`:                                     {"organisation.too_many", "apis"},
		`{"more":"` + strings.Repeat("x", 1<<20) + `"}`:                                          {identity.CodeOrganisationSize, ""},
	} {
		_, err := identity.NewOrganisation("o", draft(t, text))
		if want.code == "" && err != nil || want.code != "" && (fault.CodeOf(err) != want.code || field(err) != want.field) {
			t.Errorf("%.80s: %v at %q, want %+v", text, err, field(err), want)
		}
	}
}

// FuzzOrganisation: an organisation that can be decoded stays the same when it is encoded and
// decoded, and keeps unknown members.
func FuzzOrganisation(f *testing.F) {
	f.Add(`{"id":"o","more":{"a":1e3},"ui":{}}`)
	f.Add(`{"OWNER_name":"x","owner_ſlug":"y","":null}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, text string) {
		if doc.Check([]byte(text), 0) != nil {
			return
		}
		var o, again identity.Organisation
		if json.Unmarshal([]byte(text), &o) != nil {
			return
		}
		first, err := json.Marshal(o)
		if err != nil {
			return // a member with text that was never valid
		}
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		if again.Rest.Len() != o.Rest.Len() {
			t.Errorf("%s has %d unknown members, want %d", first, again.Rest.Len(), o.Rest.Len())
		}
		if second, err := json.Marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s, then %s, %v", first, second, err)
		}
	})
}

// TestNamed: an imported organisation has a name or a slug.
func TestNamed(t *testing.T) {
	for text, ok := range map[string]bool{`{}`: false, `{"owner_name":" ","owner_slug":"\t"}`: false, `{"owner_name":"A"}`: true, `{"owner_slug":"a"}`: true} {
		o, err := identity.NewOrganisation("o", draft(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Named(); (err == nil) != ok || !ok && field(err) != "owner_name" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDraftsKeepMembers: a draft is encoded with its unknown members.
func TestDraftsKeepMembers(t *testing.T) {
	text, err := json.Marshal(draft(t, `{"more":{"a":1.50},"owner_name":"x"}`))
	if err != nil || !bytes.Contains(text, []byte(`"owner_name":"x"`)) || !bytes.HasSuffix(text, []byte(`,"more":{"a":1.50}}`)) {
		t.Errorf("%s, %v", text, err)
	}
}
