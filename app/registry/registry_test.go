package registry_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/registry"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

const ours, theirs = "ours", "theirs"

// desk is a registry over a store of its own, with its operations.
type desk struct {
	*registry.ClientIDPs
	ops map[string]operation.Operation
	log bytes.Buffer
	now time.Time
}

func open(t testing.TB) *desk {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	d := &desk{ops: map[string]operation.Operation{}, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	d.ClientIDPs = &registry.ClientIDPs{Tools: crud.Tools{
		Store: db, Log: slog.New(slog.NewTextHandler(&d.log, nil)), PageSize: 2,
		Now: func() time.Time { return d.now }, NewID: func() string { n++; return fmt.Sprintf("5f1a0c5d8e3b2a1f%08x", n) },
	}}
	rows := d.Operations()
	if err := operation.Check(rows); err != nil {
		t.Fatal(err)
	}
	for _, o := range rows {
		d.ops[o.ID] = o
	}
	return d
}

func scope(t testing.TB, org tenant.ID) tenant.Scope {
	t.Helper()
	s, err := tenant.Of(org)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// request is one call, of the organisation ours unless org is set.
type request struct {
	op, id, api, body string
	header, query     map[string]string
	org               tenant.ID
	all               bool // of a user without organisation
	who               operation.Principal
	rules             string // a merge patch that rules apply to the body
}

// do makes a call and returns the response.
func (d *desk) do(t testing.TB, r request) (string, error) {
	t.Helper()
	o, ok := d.ops["clientidps."+r.op]
	if !ok {
		t.Fatalf("there is no operation %s", r.op)
	}
	if r.org == "" {
		r.org = ours
	}
	c := &operation.Call{Spec: &o.Spec, Scope: scope(t, r.org), Principal: r.who, Path: map[string]string{"id": r.id, "apiId": r.api},
		Header: r.header, Query: url.Values{}, Body: []byte(r.body)}
	if r.all {
		c.Scope = tenant.Everyone("super user")
	}
	for k, v := range r.query {
		c.Query.Set(k, v)
	}
	if r.rules != "" {
		if _, err := c.Settle(t.Context()); err != nil {
			return "", err
		}
		if err := c.Amend(t.Context(), json.RawMessage(r.rules)); err != nil {
			return "", err
		}
	}
	out, err := o.Do(t.Context(), c)
	if err != nil {
		return "", err
	}
	b, err := httpadapter.Text(&o, out)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), nil
}

// must is do for calls that must succeed.
func (d *desk) must(t testing.TB, r request) string {
	t.Helper()
	text, err := d.do(t, r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.op, r.id, err)
	}
	return text
}

// stored returns the mappings of a provider of the organisation ours.
func (d *desk) stored(t testing.TB, id string) string {
	t.Helper()
	var p struct {
		Mappings json.RawMessage `json:"api_mappings"`
	}
	if err := json.Unmarshal([]byte(d.must(t, request{op: "get", id: id})), &p); err != nil {
		t.Fatal(err)
	}
	return string(p.Mappings)
}

func wants(t testing.TB, err error, code string) {
	t.Helper()
	if code == "" && err != nil || code != "" && (err == nil || fault.CodeOf(err) != code) {
		t.Errorf("have %v (%s), want %q", err, fault.CodeOf(err), code)
	}
}

const corp = `{"client_idp_id":"corp","name":"Corp","jwks_uri":"https://i/jwks","api_mappings":{"a":{"scope_to_policy":{"read":"gold"}},"b":{"scope_to_policy":{}}}}`

// TestLife creates, changes and deletes a provider.
func TestLife(t *testing.T) {
	d := open(t)
	d.must(t, request{op: "create", body: corp})
	byAlias, byID := d.must(t, request{op: "get", id: "corp"}), d.must(t, request{op: "get", id: "5f1a0c5d8e3b2a1f00000001"})
	if byAlias != byID || !strings.Contains(byAlias, `"org_id":"ours"`) {
		t.Errorf("%s and %s", byAlias, byID)
	}
	d.now = d.now.Add(time.Hour)
	text := d.must(t, request{op: "replace", id: "corp", body: `{"name":"New","jwks_uri":"https://i/new"}`})
	for _, part := range []string{`"client_idp_id":"corp"`, `"name":"New"`, `"api_mappings":{}`, `"date_created":"2026-01-02T03:04:05Z"`, `"last_updated":"2026-01-02T04:04:05Z"`} {
		if !strings.Contains(text, part) {
			t.Errorf("%s has no %s", text, part)
		}
	}
	d.must(t, request{op: "delete", id: "corp"})
	for _, op := range []string{"get", "delete", "references"} {
		_, err := d.do(t, request{op: op, id: "corp"})
		wants(t, err, "clientidp.not_found")
	}
	if d.log.Len() > 0 {
		t.Errorf("the log has %s", d.log.String())
	}
}

// TestNames states that a client_idp_id is unique within one organisation: two
// organisations may use the same one, one organisation may not use it twice, and
// neither sees, changes or deletes the provider of the other.
func TestNames(t *testing.T) {
	d := open(t)
	d.must(t, request{op: "create", body: corp})
	_, err := d.do(t, request{op: "create", body: corp})
	wants(t, err, "clientidp.taken")
	for _, op := range []string{"get", "delete", "mappings.get", "mappings.delete", "references"} {
		_, err := d.do(t, request{op: op, id: "corp", api: "a", org: theirs})
		wants(t, err, "clientidp.not_found")
	}
	for op, body := range map[string]string{"replace": corp, "mappings.patch": `{"a":null}`, "mappings.put": `{}`} {
		_, err := d.do(t, request{op: op, id: "corp", api: "a", org: theirs, body: body})
		wants(t, err, "clientidp.not_found")
	}
	d.must(t, request{op: "create", org: theirs, body: corp})
	d.must(t, request{op: "delete", org: theirs, id: "corp"})
	d.must(t, request{op: "get", id: "corp"})
	d.must(t, request{op: "create", body: strings.Replace(corp, "corp", "second", 1)})
	_, err = d.do(t, request{op: "replace", id: "second", body: corp})
	wants(t, err, "clientidp.taken")
	if text := d.must(t, request{op: "list", all: true}); strings.Count(text, `"jwks_uri"`) != 2 {
		t.Errorf("a user without organisation sees %s", text)
	}
	d.must(t, request{op: "create", body: strings.Replace(corp, "corp", "third", 1)})
	for page, want := range map[string]int{"1": 2, "2": 1} {
		if text := d.must(t, request{op: "list", query: map[string]string{"p": page}}); strings.Count(text, `"jwks_uri"`) != want {
			t.Errorf("page %s: %s", page, text)
		}
	}
}

// TestRefused states which drafts are refused, by creations and by replacements alike,
// and that a refusal changes nothing.
func TestRefused(t *testing.T) {
	for body, code := range map[string]string{
		`{"jwks_uri":"https://i"}`: "clientidp.name", `{"name":"n"}`: "clientidp.jwks_uri", `{"name":"n","jwks_uri":"u","client_idp_id":"a/b"}`: "clientidp.client_idp_id",
		`{"name":"n","jwks_uri":"u","api_mappings":{"a":5}}`: "clientidp.mappings", `{"name":"n","jwks_uri":"u","api_mappings":{"a":{"scope_to_policy":{"r":1}}}}`: "clientidp.mappings",
	} {
		d := open(t)
		d.must(t, request{op: "create", body: corp})
		before := d.must(t, request{op: "get", id: "corp"})
		for _, r := range []request{{op: "create", body: body}, {op: "replace", id: "corp", body: body}} {
			_, err := d.do(t, r)
			if fault.CodeOf(err) != code {
				t.Errorf("%s %s: %v (%s), want %s", r.op, body, err, fault.CodeOf(err), code)
			}
		}
		if after := d.must(t, request{op: "get", id: "corp"}); after != before {
			t.Errorf("%s: %s became %s", body, before, after)
		}
		if all := d.must(t, request{op: "list"}); strings.Count(all, `"jwks_uri"`) != 1 {
			t.Errorf("%s: the list is %s", body, all)
		}
	}
}

// TestAdvice states that a key source that gateways may not understand is stored, with
// one log line, and that a dry run logs nothing.
func TestAdvice(t *testing.T) {
	d := open(t)
	odd := strings.Replace(corp, "https://i/jwks", "i/jwks", 1)
	d.must(t, request{op: "create", body: odd})
	d.must(t, request{op: "replace", id: "corp", body: odd, query: map[string]string{"dry_run": "true"}})
	if n := strings.Count(d.log.String(), "jwks_uri"); n != 1 {
		t.Errorf("%d lines: %s", n, d.log.String())
	}
	d.must(t, request{op: "replace", id: "corp", body: odd})
	if n := strings.Count(d.log.String(), "jwks_uri"); n != 2 {
		t.Errorf("%d lines: %s", n, d.log.String())
	}
}
