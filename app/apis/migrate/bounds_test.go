package migrate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/migrate"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Versions repeat what they share, so a small API with many of them could become
// gigabytes. This is bounded for one API, for all APIs of a request, and for webhooks
// that a staged copy gets.
func TestMigrationIsBounded(t *testing.T) {
	small := func(s *migrate.Service) { s.MaxCopies = 80_000 }
	f := newFarm(t, apis.Settings{}, small)
	for _, id := range []string{"one", "two", "three"} {
		f.classic(id, versioned)
	}
	const refused = ":The versions of all these APIs are too large for one request: migrate fewer APIs at a time"
	f.expect(outcome(f.migrate("admin", `{"mode":"dryRun","all":true}`)), "ok[one two] def one+1 def two+1 fail three"+refused)
	f.expect(outcome(f.migrate("admin", `{"mode":"direct","all":true}`)), "ok[one two] fail three"+refused)
	f.expect(outcome(f.migrate("admin", `{"mode":"direct","apiIDs":["three"]}`)), "ok[three]")

	var hooks int
	f = newFarm(t, apis.Settings{}, func(s *migrate.Service) {
		s.APIs.Hook = func(_ context.Context, _ store.Reader, id string) (json.RawMessage, error) {
			hooks++
			return json.RawMessage(`{"id":"` + id + `","method":"POST","target_path":"http://h.example/","header_map":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`), nil
		}
	})
	f.classic("two", versioned)
	f.migrate("admin", `{"mode":"stage","apiIDs":["two"]}`)
	d := f.call("admin", "GET", "/api/apis/two", "", 200)
	var refs []string
	for i := range 40 {
		refs = append(refs, fmt.Sprintf(`{"event_name":"AuthFailure","hook":{"id":"%024x"}}`, i))
	}
	list, err := doc.ParseNode([]byte("[" + strings.Join(refs, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	d.Set("hook_references", list)
	f.call("admin", "PUT", "/api/apis/two", string(d.JSON()), 200)
	f.expect(outcome(f.migrate("admin", `{"mode":"promote","apiIDs":["two"]}`)), "ok[] fail two:The webhooks of the API are too large to be repeated in all its versions")
	if hooks == 0 {
		t.Error("nothing asked for webhooks")
	}
}

// away is a store that has no answer to whether an address is taken.
type away struct{ store.Store }

type awayReader struct{ store.Reader }

func (a away) View(ctx context.Context, s tenant.Scope, fn func(store.Reader) error) error {
	return a.Store.View(ctx, s, func(r store.Reader) error { return fn(awayReader{r}) })
}

func (r awayReader) Scan(ctx context.Context, q store.Query) iter.Seq2[store.Record, error] {
	if q.Index != apis.ByAddress {
		return r.Reader.Scan(ctx, q)
	}
	return func(yield func(store.Record, error) bool) {
		yield(store.Record{}, fault.New(fault.Unavailable, "away", "try again"))
	}
}

// While the store is away, a migration fails as a whole: no API is said to be at fault.
func TestMigrationWhileTheStoreIsAway(t *testing.T) {
	var a *apis.Repository
	f := newFarm(t, apis.Settings{}, func(s *migrate.Service) { a = s.APIs })
	f.classic("one", "")
	a.Store = away{a.Store}
	f.call("admin", "POST", "/api/apis/migrate", `{"mode":"dryRun","apiIDs":["one"]}`, 503)
}

// No migration stores a document that a body could not bring back.
func TestMigrationIsWritable(t *testing.T) {
	f := newFarm(t, apis.Settings{}, func(s *migrate.Service) { s.Forms.Room.Values = 60 })
	f.classic("small", "")
	f.classic("large", `"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default","use_extended_paths":true,"global_headers":{`+headers(60)+`}}}},`)
	const refused = "The API would be too large to be sent back: it would hold more than 60 values"
	for _, mode := range []string{"dryRun", "direct", "stage"} {
		if got := outcome(f.migrate("admin", `{"mode":"`+mode+`","apiIDs":["large"]}`)); !strings.Contains(got, refused) || !strings.HasPrefix(got, "ok[]") {
			t.Errorf("%s: %s", mode, got)
		}
	}
	f.call("admin", "GET", "/api/apis/large", "", 200)
	f.expect(outcome(f.migrate("admin", `{"mode":"direct","apiIDs":["small"]}`)), "ok[small]")
}

func headers(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"x-%d":"y"`, i))
	}
	return strings.Join(all, ",")
}
