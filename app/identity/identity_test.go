package identity_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

const acme, other = "5f1a0c5d8e3b2a1f000000a1", "5f1a0c5d8e3b2a1f000000b2"

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// house is a service over a store of its own, with the operations of all surfaces.
type house struct {
	*identity.Service
	ops map[string]operation.Operation
}

func keys(t testing.TB, secrets ...string) *crypto.Keys {
	t.Helper()
	k, err := crypto.NewKeys(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const first, second, third = "the first secret, long enough to be one", "the second secret, long enough to be one", "the third secret, long enough to be one"

func open(t testing.TB) *house {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	h := &house{Service: &identity.Service{
		Store: db, Keys: keys(t, first), Passwords: crypto.Passwords{Iterations: 1}, Log: slog.New(slog.DiscardHandler), PageSize: 10,
		Now: func() time.Time { return now }, NewID: func() string { n++; return fmt.Sprintf("5f1a0c5d8e3b2a1f%08x", n) },
	}}
	h.ops = map[string]operation.Operation{}
	for _, rows := range [][]operation.Operation{
		identity.Organisations(nil, nil).Registration().Operations(crud.Tools{Store: db, NewID: h.NewID, Now: h.Now, PageSize: 2}), identity.AdminUsers{Service: h.Service}.Operations(), identity.Users{Service: h.Service}.Operations(),
		identity.ServiceAccounts{Service: h.Service}.Operations(), identity.UserGroups{Service: h.Service, Tools: crud.Tools{Store: db, NewID: h.NewID, Now: h.Now, PageSize: 2}}.Operations(),
	} {
		if err := operation.Check(rows); err != nil {
			t.Fatal(err)
		}
		for _, o := range rows {
			h.ops[o.ID] = o
		}
	}
	return h
}

// ask calls one operation and returns the response as JSON.
func (h *house) ask(t testing.TB, id string, c operation.Call, body string) (string, error) {
	t.Helper()
	o, ok := h.ops[id]
	if !ok {
		t.Fatalf("there is no operation %s", id)
	}
	c.Spec, c.Body = &o.Spec, []byte(body)
	out, err := o.Do(t.Context(), &c)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// organisation creates an organisation.
func (h *house) organisation(t testing.TB, id string) {
	t.Helper()
	if _, err := h.ask(t, "admin.organisations.create", operation.Call{Scope: tenant.Everyone("test")}, `{"id":"`+id+`","owner_slug":"`+id+`"}`); err != nil {
		t.Fatal(err)
	}
}

// user creates a user and returns its ID and its access key.
func (h *house) user(t testing.TB, draft string) (id, key string) {
	t.Helper()
	text, err := h.ask(t, "admin.users.create", operation.Call{}, draft)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Message string
		Meta    identity.View
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Meta.AccessKey != r.Message {
		t.Fatalf("%s: %v", text, err)
	}
	return r.Meta.ID, r.Message
}

// group creates a group of acme and returns its ID.
func (h *house) group(t testing.TB, draft string) string {
	t.Helper()
	scope, err := tenant.Of(acme)
	if err != nil {
		t.Fatal(err)
	}
	text, err := h.ask(t, "usergroups.create", operation.Call{Scope: scope, Principal: operation.Principal{ID: "root", Permissions: access.Map{"IsAdmin": access.LevelAdmin}}}, draft)
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ Meta string }
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r.Meta
}

// count returns how many records of a kind there are.
func (h *house) count(t testing.TB, kind string) (n int) {
	t.Helper()
	if err := h.Store.View(t.Context(), tenant.Everyone("test"), func(r store.Reader) (err error) {
		n, err = r.Count(t.Context(), store.Query{Kind: kind})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// login returns a call of a user, with the intent and permission of an operation.
func (h *house) login(t testing.TB, key string, permission access.Permission, intent access.Intent) (operation.Call, error) {
	t.Helper()
	c := operation.Call{Token: key, Spec: &operation.Spec{Permission: permission, Intent: intent}}
	return c, h.Authenticate(t.Context(), &c)
}

// remove deletes a record that no operation deletes yet.
func (h *house) remove(t testing.TB, org, kind, id string) {
	t.Helper()
	scope, err := tenant.Of(tenant.ID(org))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Store.Update(t.Context(), scope, func(w store.Writer) error {
		return w.Delete(t.Context(), kind, id)
	}); err != nil {
		t.Fatal(err)
	}
}

// wants compares an error with a kind and a code; "" stands for no error.
func wants(t testing.TB, err error, kind fault.Kind, code string) {
	t.Helper()
	if code == "" && err != nil || code != "" && (err == nil || fault.KindOf(err) != kind || fault.CodeOf(err) != code) {
		t.Errorf("have %v (%s), want %s", err, fault.CodeOf(err), code)
	}
}

// field returns the field that a fault is about.
func field(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Field
	}
	return ""
}
