package upgrade_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/app/upgrade"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// signals are the registrations whose changes are announced.
var signals = crud.Kinds{apis.Registration(apis.Settings{}), policies.Registration(apis.Kind, policies.Settings{})}.Signals()

// db is the methods of a store that the tests need.
type db interface {
	store.Store
	store.ChangeLog
}

// world is a store with records in an older form.
type world struct {
	t     testing.TB
	db    db
	start store.Revision
	log   *strings.Builder
}

func clock() time.Time { return time.Unix(1767323045, 0).UTC() }

func newWorld(t testing.TB, d db) *world { return &world{t: t, db: d, log: &strings.Builder{}} }

func memory(t *testing.T) db {
	t.Helper()
	d, err := memdb.New(clock)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (w *world) service(s store.Store) *upgrade.Service {
	l := apis.New(apis.Config{Store: s, Now: clock})
	return &upgrade.Service{Store: s, APIs: l, Log: slog.New(slog.NewTextHandler(w.log, nil)), Batch: 2}
}

func (w *world) update(org tenant.ID, fn func(store.Writer) error) {
	w.t.Helper()
	s, err := tenant.Of(org)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.start, err = w.db.Update(w.t.Context(), s, fn); err != nil {
		w.t.Fatal(err)
	}
}

const (
	jwt = `"jwt":{"enabled":true,"identityBaseField":"sub","header":{"enabled":true,"name":"Authorization"}}`
	new = `"jwt":{"enabled":true,"identityBaseField":"sub","subjectClaims":["sub"],"header":{"enabled":true,"name":"Authorization"}}`
)

// api stores an OAS or MCP API with security schemes and further members of its
// authentication.
func (w *world) api(org tenant.ID, id string, class apidef.Class, authentication string) {
	w.t.Helper()
	document, err := doc.ParseNode([]byte(fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":"t","version":"1"},"later":1.50,"paths":{},
		"components":{"securitySchemes":{"jwt":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}}},"security":[{"jwt":[]}],
		"x-tyk-api-gateway":{"info":{"id":"%[1]s","name":"%[1]s","state":{"active":true}},"upstream":{"url":"http://up.example/"},
		"server":{"listenPath":{"value":"/%[1]s/"},"authentication":{"enabled":true,%[2]s}}}}`, id, authentication)))
	if err != nil {
		w.t.Fatal(err)
	}
	d := apidef.Draft{ID: fmt.Sprintf("%024x", ids.Add(1)), APIID: id, OrgID: org, Class: class, Document: document,
		Definition: oas.Extract(document, nil, oas.Options{MCP: class == apidef.MCP})}
	a, err := apidef.New(d, clock())
	if err != nil {
		w.t.Fatal(err)
	}
	w.update(org, func(wr store.Writer) error { return apis.Kind.Insert(w.t.Context(), wr, a) })
}

var ids atomic.Int64

func (w *world) policy(org tenant.ID, text string) {
	w.t.Helper()
	n, err := doc.ParseNode([]byte(text))
	if err != nil {
		w.t.Fatal(err)
	}
	w.update(org, func(wr store.Writer) error {
		return wr.Put(w.t.Context(), store.Record{Org: org, Kind: policy.Kind, ID: n.Get("_id").Text(), Doc: []byte(text)})
	})
}

// texts returns every record of the two kinds.
func (w *world) texts() map[string]store.Record {
	w.t.Helper()
	out := map[string]store.Record{}
	err := w.db.View(w.t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
		for _, kind := range []string{apidef.Kind, policy.Kind} {
			for rec, err := range r.Scan(w.t.Context(), store.Query{Kind: kind}) {
				if err != nil {
					return err
				}
				name := rec.ID
				if kind == apidef.Kind {
					if a, err := apis.Kind.Decode(rec); err == nil && a.APIID() != "" {
						name = a.APIID()
					}
				}
				out[name] = rec
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// told returns the signals of the commits since the last commit of the test.
func (w *world) told() (out []string) {
	w.t.Helper()
	head, err := w.db.Head(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if head == w.start {
		return nil
	}
	for c, err := range w.db.Follow(w.t.Context(), w.start) {
		if err != nil {
			w.t.Fatal(err)
		}
		var changes []signal.Change
		for _, ch := range c.Changes {
			changes = append(changes, signal.Change{Op: signal.Op(ch.Op), Kind: ch.Kind, ID: ch.ID, Key: ch.Key})
		}
		for _, s := range signals.Of(changes) {
			out = append(out, string(s.Command)+" "+s.Payload)
		}
		if c.Rev == head {
			break
		}
	}
	return out
}

// fill stores various records: seven that are upgraded, and others.
func (w *world) fill() {
	for i, org := range []tenant.ID{"a", "a", "a", "b"} {
		w.api(org, fmt.Sprintf("old%d", i), apidef.OAS, `"securitySchemes":{`+jwt+`}`)
	}
	w.api("a", "current", apidef.OAS, `"securitySchemes":{`+new+`}`)
	w.api("a", "proxy", apidef.MCP, `"securitySchemes":{`+new+`},"protectedResourceMetadata":{"enabled":true,"resource":"https://r.example","authorizationServers":["https://as.example"]}`)
	w.api("b", "mirror", apidef.MCP, `"securitySchemes":{`+new+`},"protectedResourceMetadata":{"enabled":true}`)
	w.policy("a", `{"_id":"0000000000000000000000f1","name":"nameless","org_id":"a","rate":1.50}`)
	w.policy("b", `{"_id":"0000000000000000000000f2","id":"","name":"empty","org_id":"b"}`)
	w.policy("b", `{"_id":"0000000000000000000000f3","id":"kept","name":"kept","org_id":"b"}`)
}

func TestUpgrade(t *testing.T) {
	w := newWorld(t, memory(t))
	w.fill()
	w.update("a", func(wr store.Writer) error {
		return wr.Put(t.Context(), store.Record{Org: "a", Kind: apidef.Kind, ID: "broken", Doc: []byte(`{"api_definition":{},"oas":{"x":1}}`)})
	})
	before := w.texts()
	s := w.service(w.db)
	total, err := s.Run(t.Context())
	if err != nil || total != (upgrade.Counts{APIs: 5, Policies: 2}) {
		t.Fatal(total, err)
	}
	after := w.texts()
	for _, name := range []string{"current", "mirror", "0000000000000000000000f3", "broken"} {
		if a, b := before[name], after[name]; a.Rev != b.Rev || string(a.Doc) != string(b.Doc) {
			t.Errorf("%s was rewritten: %s", name, b.Doc)
		}
	}
	want := map[string]string{
		"old0": `"subjectClaims":["sub"]`, "old3": `"subjectClaims":["sub"]`, "proxy": `"oauth2":{"enabled":false,"protectedResourceMetadata":{"enabled":true,"resource":"https://r.example"`,
		"0000000000000000000000f1": `"rate":1.50,"id":"0000000000000000000000f1"}`, "0000000000000000000000f2": `"id":"0000000000000000000000f2"`,
	}
	for name, part := range want {
		if text := string(after[name].Doc); !strings.Contains(text, part) || !strings.Contains(text, `"rate":1.50`) && !strings.Contains(text, `"later":1.50`) && name[0] != '0' {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text := string(after["old0"].Doc); !strings.Contains(text, `"identityBaseField":"sub"`) || !strings.Contains(text, `"jwt_identity_base_field":"sub"`) {
		t.Error("the old fields are gone", text)
	}
	if got := strings.Join(w.told(), ","); got != "GroupReload " {
		t.Errorf("announced %q", got)
	}
	for _, want := range []string{"records=7", "done=7 of=7", "apis=5 policies=2", "subjectClaims"} {
		if !strings.Contains(w.log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, w.log)
		}
	}
	w.start, _ = w.db.Head(t.Context())
	if total, err = s.Run(t.Context()); err != nil || total != (upgrade.Counts{}) || len(w.told()) > 0 {
		t.Error("not idempotent", total, err, w.told())
	}
	found := false // by its current id
	_ = w.db.View(t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
		for p, err := range policies.Kind.Find(t.Context(), r, store.Query{Index: "id", Value: "0000000000000000000000f1"}) {
			found = err == nil && p.Value.Name() == "nameless"
		}
		return nil
	})
	if !found {
		t.Error("the policy is not found by its id")
	}
}

// TestOneOfMany: a record that cannot have its new form stays as it is, and is told; the
// others are upgraded, and gateways are told of them.
func TestOneOfMany(t *testing.T) {
	w := newWorld(t, memory(t))
	w.policy("a", `{"_id":"0000000000000000000000f1","name":"first","org_id":"a"}`)
	w.update("a", func(wr store.Writer) error { // its id is the one that the next policy is to get
		p, err := policy.Load([]byte(`{"_id":"0000000000000000000000f3","id":"0000000000000000000000f2","name":"chosen","org_id":"a"}`))
		if err != nil {
			return err
		}
		return policies.Kind.Insert(t.Context(), wr, p)
	})
	w.policy("a", `{"_id":"0000000000000000000000f2","name":"second","org_id":"a"}`)
	for again, want := range []int{1, 0} {
		c, err := w.service(w.db).Run(t.Context())
		if err != nil || c.Policies != want {
			t.Fatalf("%d: %+v %v", again, c, err)
		}
	}
	if told := w.told(); !slices.Equal(told, []string{"GroupReload "}) {
		t.Errorf("%q", told)
	}
	texts := w.texts()
	if n, err := doc.ParseNode(texts["0000000000000000000000f1"].Doc); err != nil || n.Get("id").Text() != "0000000000000000000000f1" {
		t.Error("the first is not upgraded")
	}
	if n, err := doc.ParseNode(texts["0000000000000000000000f2"].Doc); err != nil || n.Get("id").Text() != "" {
		t.Error("the second is upgraded")
	}
	if !strings.Contains(w.log.String(), "stays as it is") {
		t.Error("nothing is told of the second")
	}
}

// TestUpgradeOfShadowed: another API may have chosen the database ID of one as its api_id.
func TestUpgradeOfShadowed(t *testing.T) {
	w := newWorld(t, memory(t))
	w.api("a", "old", apidef.OAS, `"securitySchemes":{`+jwt+`}`)
	w.api("a", w.texts()["old"].ID, apidef.OAS, `"securitySchemes":{`+new+`}`)
	if total, err := w.service(w.db).Run(t.Context()); err != nil || total.APIs != 1 {
		t.Errorf("%+v %v %s", total, err, w.log)
	}
}

// TestUnlike checks that a definition that does not follow from its document stays
// what it is.
func TestUnlike(t *testing.T) {
	w := newWorld(t, memory(t))
	w.api("a", "odd", apidef.OAS, `"securitySchemes":{`+jwt+`}`)
	w.update("a", func(wr store.Writer) error {
		_, err := apis.Kind.Edit(t.Context(), wr, "odd", nil, func(a apidef.API) (apidef.API, error) {
			def, document, err := a.Texts()
			if err != nil {
				return a, err
			}
			def.Put(doc.NewString("http://other.example/"), "proxy", "target_url")
			return a.Rewrite(apidef.Draft{Definition: def, Document: document}, clock())
		})
		return err
	})
	if total, err := w.service(w.db).Run(t.Context()); err != nil || total.APIs != 1 {
		t.Fatal(total, err)
	}
	if text := string(w.texts()["odd"].Doc); !strings.Contains(text, "http://other.example/") || !strings.Contains(text, `"subjectClaims":["sub"]`) {
		t.Error(text)
	}
	if !strings.Contains(w.log.String(), "does not follow") {
		t.Error(w.log)
	}
}

// TestReplicas checks that replicas that start at the same time do the work once.
func TestReplicas(t *testing.T) {
	path := t.TempDir() + "/db"
	open := func() db {
		d, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Now: clock, Beside: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		return d
	}
	w := newWorld(t, open())
	w.fill()
	services := []*upgrade.Service{}
	for range 3 {
		services = append(services, newWorld(t, nil).service(open()))
	}
	var wg sync.WaitGroup
	var apisDone, policiesDone atomic.Int64
	for _, s := range services {
		wg.Go(func() {
			c, err := s.Run(t.Context())
			if err != nil {
				t.Error(err)
			}
			apisDone.Add(int64(c.APIs))
			policiesDone.Add(int64(c.Policies))
		})
	}
	wg.Wait()
	if apisDone.Load() != 5 || policiesDone.Load() != 2 {
		t.Error(apisDone.Load(), policiesDone.Load())
	}
	for _, s := range w.told() {
		if s != "GroupReload " {
			t.Error(s)
		}
	}
	if len(w.told()) == 0 {
		t.Error("gateways were not told")
	}
}

// BenchmarkCurrent measures a start when there is nothing to upgrade.
func BenchmarkCurrent(b *testing.B) {
	d, err := memdb.New(clock)
	if err != nil {
		b.Fatal(err)
	}
	w := newWorld(b, d)
	for i := range 1000 {
		w.api("a", fmt.Sprintf("current%d", i), apidef.OAS, `"securitySchemes":{`+new+`}`)
	}
	for b.Loop() {
		if total, err := w.service(d).Run(b.Context()); err != nil || total.APIs != 0 {
			b.Fatal(total, err)
		}
	}
}
