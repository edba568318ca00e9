package app_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/keys"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// lettered are the rules of an organisation that let nothing with an alias of its own
// through, nor what asks for it, and tell in their refusal what they see.
const lettered = `package dashboard_users
deny[x] { input.request.body.alias == "show"; x := json.marshal(input.request) }
deny[x] { input.request.query.show; x := json.marshal(input.request) }`

// telling makes these rules decide.
func telling(t app.Tools) (rules.Engine, error) {
	return opa.New(opa.Config{Logger: t.Log, Debug: true, OrgRules: func(context.Context, tenant.ID) (string, error) { return lettered, nil }}, t.Operations())
}

// TestKeySecrets: of keys, passwords and what signs requests nothing reaches logs, the audit
// trail, events, the change log, refusals and rules, whether gateways hash keys or not; and
// each change of a key is told to those who listen.
func TestKeySecrets(t *testing.T) {
	for _, hashed := range []bool{false, true} {
		t.Run(fmt.Sprint("hashed ", hashed), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { keySecrets(t, hashed) }) })
	}
}

func keySecrets(t *testing.T, hashed bool) {
	to := &listening{}
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	a := bubbled(t, &log, app.WithStore(db), app.WithDeliveries(delivery.Settings{Fetcher: to}),
		app.WithKeySettings(keys.Settings{Hashed: hashed, ListHashes: true, UpdateByHash: true, DeleteByHash: true}), app.WithRules(telling))
	var answers strings.Builder // but for those that make a key
	ask := func(method, path, body string) (text string) {
		t.Helper()
		as := "admin"
		if strings.HasPrefix(path, "/admin") {
			as = "super-admin"
		}
		code, text := fetch(t, a, method, path, as, body)
		synctest.Wait()
		if method != "POST" {
			answers.WriteString(text)
		}
		return fmt.Sprint(code, " ", text)
	}
	ask("PUT", "/admin/organisations/org-a", `{"event_options":{"key_event":{"webhook":"https://hooks.example.com/"},"hashed_key_event":{"webhook":"https://hooks.example.com/"}}}`)
	const session = `"access_rights":{"orders":{}},"hmac_enabled":true,"hmac_string":"hunter2-hmac","jwt_data":{"secret":"hunter2-jwt"},"oauth_keys":{"c":"hunter2-oauth"},"meta_data":{"plan":"gold"}`
	made := ask("POST", "/api/keys", `{"alias":"one",`+session+`}`)
	var answer struct {
		ID   string `json:"key_id"`
		Hash string `json:"key_hash"`
	}
	if err := json.Unmarshal([]byte(made[4:]), &answer); err != nil || !strings.HasPrefix(made, "200") || !strings.Contains(made, "hunter2-hmac") {
		t.Fatal(made)
	}
	inner, err := base64.StdEncoding.DecodeString(answer.ID)
	var token struct{ ID string }
	if err := errors.Join(err, json.Unmarshal(inner, &token)); err != nil || len(token.ID) != 32 {
		t.Fatal(string(inner), err)
	}
	for _, path := range []string{"/api/keys/" + answer.ID, "/api/keys/" + token.ID, "/api/apis/-/keys/" + token.ID + "?auto_guess=true", "/api/keys/" + answer.Hash + "?hashed=1"} {
		if got := ask("PUT", path, `{"alias":"two",`+session+`}`); !strings.HasPrefix(got, "200") {
			t.Error(path, got)
		}
		ask("GET", path, "")
		ask("PUT", path, `{"alias":"show",`+session+`}`)
		ask("PUT", path, `{"alias":7,`+session+`}`)
	}
	ask("GET", "/api/apis/-/keys/search?q="+token.ID, "")
	ask("POST", "/api/apis/keys/basic/ada", `{"basic_auth_data":{"password":"hunter2-password"},`+session+`}`)
	ask("POST", "/api/keys?basic_auth=1", `{"basic_auth_data":{"user":"bob","password":"hunter2-password"},`+session+`}`)
	ask("POST", "/api/keys/hunter2-custom", `{"alias":"x`+strings.Repeat("ä", 200)+`",`+session+`}`)
	if denied := ask("PUT", "/api/keys/hunter2-custom", `{"alias":"show",`+session+`}`); !strings.Contains(denied, `\"plan\":\"gold\"`) || strings.Contains(denied, "hunter2") {
		t.Error("rules see", denied)
	}
	ask("POST", "/api/keys/preview", `{`+session+`}`)
	if !hashed { // then gateways report keys as they are
		const year = "/1/1/2026/31/12/2026"
		for _, path := range []string{"/api/activity/keys/" + answer.ID + year, "/api/activity/keys/endpoint/hunter2-custom" + year, "/api/activity/keys/aggregate/hunter2-custom," + answer.ID + year,
			"/api/activity/mcp/keys/hunter2-custom" + year, "/api/logs?start=1&end=2&key=hunter2-custom"} {
			if got := ask("GET", path, ""); !strings.HasPrefix(got, "200") && !strings.HasPrefix(got, "404") {
				t.Error(path, got)
			}
			mark := map[bool]string{false: "?", true: "&"}[strings.Contains(path, "?")]
			if denied := ask("GET", path+mark+"show=1", ""); !strings.HasPrefix(denied, "403") || !strings.Contains(denied, "show") || strings.Contains(denied, "hunter2") || strings.Contains(denied, answer.ID) {
				t.Error("rules see", denied)
			}
		}
	}
	if got := ask("DELETE", "/api/keys/"+token.ID, ""); !strings.HasPrefix(got, "200") {
		t.Error(got)
	}
	events := map[string]int{}
	var told strings.Builder
	for _, r := range to.got {
		var e struct {
			Event   string
			Message struct{ Action, Alias string }
		}
		if err := json.Unmarshal(r.Body, &e); err != nil {
			t.Error(err)
		}
		events[e.Event+" "+e.Message.Action]++
		told.Write(r.Body)
	}
	want := map[string]int{"key_event created": 4, "key_event updated": 4, "key_event deleted": 1}
	if hashed {
		want["hashed_key_event created"], want["hashed_key_event updated"], want["hashed_key_event deleted"] = 4, 4, 1
	}
	if fmt.Sprint(events) != fmt.Sprint(want) {
		t.Errorf("told %v, want %v", events, want)
	}
	if cut := `"alias":"x` + strings.Repeat("ä", 127) + `"`; !strings.Contains(told.String(), cut) {
		t.Errorf("receivers are not told %s: %s", cut, told.String())
	}
	trail := ask("GET", "/api/audit-logs?p=-1", "")
	for _, path := range []string{"/api/keys/***", "/api/apis/keys/basic/***", "Create a basic-auth user", "Replace the session of a key"} {
		if !strings.Contains(trail, path) {
			t.Errorf("the trail does not have %s: %s", path, trail)
		}
	}
	for _, op := range []string{"created", "updated", "deleted"} {
		if want := fmt.Sprintf(`"subjects":[{"op":"%s","kind":"key","id":"%s"}]`, op, answer.Hash); strings.Contains(trail, want) != hashed {
			t.Errorf("the trail on %s keys: %s", op, trail)
		}
	}
	if strings.Count(trail, `"op":"created","kind":"key","id":"`) != 4 || strings.Contains(trail, `"kind":"intent"`) || strings.Contains(trail, "/holder") {
		t.Error("the trail names intents in place of keys:", trail)
	}
	var stored strings.Builder
	head, err := db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range db.Follow(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&stored, "%+v\n", c)
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		stored.Write(text)
		if c.Rev >= head {
			break
		}
	}
	secrets := []string{"hunter2-hmac", "hunter2-jwt", "hunter2-password", "hunter2-oauth", token.ID, answer.ID}
	for where, text := range map[string]string{"the log": log.String(), "events": told.String(), "the trail": trail, "the change log": stored.String()} {
		for _, secret := range append(secrets, "hunter2-custom") {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s tells %s: …%s…", where, secret, text[max(0, i-300):i+40])
			}
		}
	}
	for _, secret := range []string{"hunter2-hmac", "hunter2-jwt", "hunter2-password"} {
		if strings.Contains(answers.String(), secret) {
			t.Errorf("an answer tells %s", secret)
		}
	}
	time.Sleep(time.Minute) // until no call waits for rules to evaluate
}
