package contract_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// beside is another portal in the store of a service, with the same signing key.
func beside(t testing.TB, s *service) *service {
	t.Helper()
	a, err := app.New(app.WithStore(s.Store()), app.WithClock(apptest.Clock()), app.WithPasswords(crypto.Passwords{Iterations: 2}),
		app.WithFetcher(outside{}), app.WithLogger(slog.New(slog.DiscardHandler)), app.WithPortal(app.Portal{ID: "other", Shared: true, SigningKey: "signing-key", SignOn: sso.Settings{Secret: string(portalBroker)}}))
	if err != nil {
		t.Fatal(err)
	}
	return &service{App: a}
}

// away is how far the record numbers of one portal are ahead of the other's.
const away = 50

// TestPortalsApart calls every operation of one portal with records of another one, in the
// same store, by number and by CID: they are not found, and nothing changes. Lists do not
// show them.
func TestPortalsApart(t *testing.T) {
	var checked atomic.Int64
	t.Cleanup(func() {
		if checked.Load() < 12 {
			t.Errorf("%d calls only", checked.Load())
		}
	})
	for _, o := range newService(t).Operations() {
		if o.Surface != operation.Portal || o.Public || o.ID == "portal.rotate" {
			continue
		}
		t.Run(o.ID, func(t *testing.T) {
			t.Parallel()
			s := newServiceWith(t, false)
			b := beside(t, s)
			as := b.caller(t, o, plans[o.ID])
			first := request{method: o.Method, path: fill(o, nil), as: as}
			listing := o.Method == http.MethodGet && !strings.Contains(o.Path, "{")
			var before answer
			if listing {
				before = b.ask(t, first)
			}
			ids, body := ahead(t, s, o)
			if everywhere(ids) {
				before := attributes(t, s)
				if a := b.ask(t, request{method: o.Method, path: fill(o, ids), as: as, body: []byte(body)}); a.status >= 400 {
					t.Errorf("what its own portal has was answered %s", a)
				}
				if after := attributes(t, s); after != before {
					t.Errorf("the attributes of the other portal were %s\nand are %s", before, after)
				}
				checked.Add(1)
				return
			}
			if listing {
				if after := b.ask(t, first); string(after.body) != string(before.body) || after.status != http.StatusOK {
					t.Errorf("the list was %s\nand is %s", before, after)
				}
				checked.Add(1)
				return
			}
			if len(ids) == 0 {
				return // it creates a new record, or the portal has one itself
			}
			feed := s.Store().(store.ChangeLog)
			missing := b.ask(t, request{method: o.Method, path: fill(o, unknown(ids)), as: as, body: []byte(body)})
			for _, names := range append([]map[string]string{ids}, cids(t, s, o, ids)...) {
				begun := head(t, feed)
				a := b.ask(t, request{method: o.Method, path: fill(o, names), as: as, body: []byte(body)})
				if a.status != missing.status || string(a.body) != string(missing.body) || a.status < 400 {
					t.Errorf("%s of %v was answered %s\nand of what is nowhere %s", o.ID, names, a, missing)
				}
				if wrote(t, feed, begun) {
					t.Errorf("%s of %v changes something", o.ID, names)
				}
				checked.Add(1)
			}
		})
	}
}

// ahead creates records for an operation until their numbers are ahead, and returns them
// with a valid body.
func ahead(t *testing.T, s *service, o operation.Operation) (ids map[string]string, body string) {
	t.Helper()
	p := plans[o.ID]
	for range away + 10 {
		if p.path == nil {
			break
		}
		if ids = p.path(t, s); len(ids) == 0 {
			continue
		}
		ready := true
		for _, id := range ids {
			n, err := strconv.Atoi(id)
			ready = ready && (err != nil || n > away)
		}
		if ready {
			break
		}
	}
	if p.bodies != nil {
		body = p.bodies(s, ids)[0]
	}
	return ids, body
}

// everywhere reports whether identifiers name records that every portal has: the model of
// users, and its initial attributes.
func everywhere(ids map[string]string) bool {
	_, model := ids["extended_attribute_id"]
	_, made := ids["custom_attribute_id"]
	return model && !made
}

// attributes returns the attributes of users in a portal.
func attributes(t *testing.T, s *service) (all string) {
	t.Helper()
	for _, path := range []string{"", "/default-attributes", "/custom-attributes"} {
		a := s.ask(t, request{method: http.MethodGet, path: "/portal-api/extended_attributes/1" + path, as: s.portalAdmin(t)})
		if a.status != http.StatusOK {
			t.Fatal(a)
		}
		all += string(a.body)
	}
	return all
}

// unknown returns numbers of missing records.
func unknown(ids map[string]string) map[string]string {
	out := map[string]string{}
	for name := range ids {
		out[name] = "99999999"
	}
	return out
}

// cids returns the same records by their CID, if reading them returns it.
func cids(t *testing.T, s *service, o operation.Operation, ids map[string]string) (out []map[string]string) {
	t.Helper()
	segments := strings.Split(o.Path, "/")
	named := map[string]string{}
	for i, segment := range segments {
		name, open := operation.Placeholder(segment)
		if !open {
			continue
		}
		at := operation.Operation{}
		at.Path = strings.Join(segments[:i+1], "/")
		a := s.ask(t, request{method: http.MethodGet, path: fill(at, ids), as: s.portalAdmin(t)})
		var shown struct{ CID string }
		if json.Unmarshal(a.body, &shown) != nil || shown.CID == "" {
			return nil
		}
		named[name] = shown.CID
	}
	return []map[string]string{named}
}
