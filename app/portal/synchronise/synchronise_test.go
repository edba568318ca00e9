package synchronise_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

func cid(n int) string { return fmt.Sprintf("%027d", n) }

func gold(n int, apis ...string) product.Product {
	return product.Product{Base: table.Base{CID: cid(n)}, Name: fmt.Sprint("Product ", n), ProviderID: 1, DisplayName: "Shown"}.WithAPIs(apis)
}

func silver(n int) plan.Plan {
	return plan.Plan{Base: table.Base{CID: cid(n)}, Name: fmt.Sprint("Plan ", n), ProviderID: 1, RateLimit: 10, Per: 1, Quota: -1, QuotaRenewalRate: -1}
}

// wordy is a dashboard with many policies of one API with a long name.
type wordy struct{ dashboard.Dashboard }

func (wordy) Policies(context.Context) (out []*doc.Node, err error) {
	for i := range 300 {
		n, err := doc.ParseNode(fmt.Appendf(nil, `{"_id":"%024d","name":"P%d","partitions":{"acl":true},"access_rights":{"a":{}}}`, i, i))
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func (wordy) APIs(context.Context) ([]sync.API, error) {
	return []sync.API{{ID: "a", Name: strings.Repeat("x", 1<<20)}}, nil
}

// TestTooMuch states that nothing is stored of a dashboard whose products would repeat
// hundreds of megabytes.
func TestTooMuch(t *testing.T) {
	records := newShelf(t)
	_, err := synchronise.Run(t.Context(), synchronise.Provider{Dashboard: wordy{}}, records)
	if all, _ := records.List(t.Context()); !errors.Is(err, synchronise.ErrTooMuch) || len(all) > 0 {
		t.Error(err, len(all))
	}
}

// TestLife follows a product and a plan from creation to deletion, at the dashboard and
// in the portal, in the same process and over HTTP.
func TestLife(t *testing.T) {
	for name, open := range map[string]func(service) dashboard.Dashboard{"in process": service.local, "over HTTP": service.remote} {
		t.Run(name, func(t *testing.T) {
			s, records := newService(t), newShelf(t)
			p := synchronise.Provider{Dashboard: open(s), Tags: []string{"public"}}
			records.add(t, gold(1, "a"), silver(2), gold(3))
			if r := run(t, p, records); r.Writes != 2 || r.Stored != 2 {
				t.Fatalf("%+v", r)
			}
			access, limits := records.product(t, cid(1)).Ref.ID, records.plan(t, cid(2)).Ref.ID
			if n := s.policy(t, access); n.Get("access_rights", "a") == nil || !n.Get("partitions", "acl").True() || n.Get("tags").Texts()[0] != "public" || n.Get("auth_type").Text() != "authToken" {
				t.Error(string(n.JSON()))
			}
			if ref := records.plan(t, cid(2)).Ref; ref.ID != ref.ObjectID || len(ref.ObjectID) != 24 {
				t.Errorf("%+v", ref)
			}
			quiet(t, s, p, records)

			one := records.plan(t, cid(2))
			one.KeyExpiresIn = 60
			records.add(t, one)
			if r := run(t, p, records); r.Writes != 1 || s.policy(t, limits).Get("key_expires_in").Int() != 60 {
				t.Errorf("only KeyExpiresIn: %+v", r)
			}
			one = records.plan(t, cid(2))
			one.MetaData = `{"tier":["gold",1]}`
			records.add(t, one)
			if r := run(t, p, records); r.Writes != 1 || s.policy(t, limits).Get("meta_data", "tier").Len() != 2 {
				t.Errorf("only MetaData: %+v", r)
			}
			one = records.plan(t, cid(2))
			one.Description, one.Catalogues = "portal only", []table.ID{1}
			records.add(t, one)
			quiet(t, s, p, records)

			for _, step := range []struct {
				apis     []string
				state    string
				policies int
			}{{nil, "draft", 2}, {[]string{"b"}, "active", 2}, {nil, "draft", 2}, {[]string{"c"}, "draft", 3}} {
				records.add(t, records.product(t, cid(1)).WithAPIs(step.apis))
				run(t, p, records)
				if n := s.policy(t, access); n.Get("state").Text() != step.state || n.Get("is_inactive").True() != (step.state == "draft") || s.policies(t) != step.policies {
					t.Fatalf("%v: %s, %d policies", step.apis, n.JSON(), s.policies(t))
				}
				quiet(t, s, p, records)
			}
			if now := records.product(t, cid(1)); now.Ref.ID == access || now.Name != "Product 1 2" || now.Title() != "Shown" || s.policy(t, now.Ref.ID).Get("state").Text() != "active" {
				t.Errorf("%+v", now)
			}
			all, _ := records.List(t.Context())
			if len(all) != 3 {
				t.Errorf("the draft that was left is in the portal: %+v", all)
			}
			removed := records.product(t, cid(1))
			removed.DeletedAt = time.Unix(1, 0)
			records.add(t, removed)
			run(t, p, records)
			if s.policies(t) != 1 {
				t.Errorf("%d policies after the product is deleted", s.policies(t))
			}
			quiet(t, s, p, records)
		})
	}
}

// quiet checks that a run finds nothing and only reads.
func quiet(t *testing.T, s service, p synchronise.Provider, records synchronise.Records) {
	t.Helper()
	before := s.writes.Load()
	if r := run(t, p, records); r.Writes+r.Stored+len(r.Differences) != 0 || s.writes.Load() != before {
		t.Fatalf("%+v, %d writes", r, s.writes.Load()-before)
	}
}

// TestImport: policies created at the dashboard are imported in order; an invalid policy
// does not affect others; changes there are adopted, and data of the portal alone stay.
func TestImport(t *testing.T) {
	s, records := newService(t), newShelf(t)
	p := synchronise.Provider{Dashboard: s.remote()}
	s.send(t, "POST", "/api/mcps", `{"openapi":"3.0.3","info":{"title":"Tools","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"Tools","id":"tools","state":{"active":true}},"upstream":{"url":"http://tools.internal/mcp"},"server":{"listenPath":{"value":"/tools/","strip":true}}}}`)
	for _, text := range []string{
		`{"id":"first","name":"First","partitions":{"acl":true},"access_rights":{"a":{},"gone":{}}}`,
		`{"id":"mcp","name":"MCP","partitions":{"acl":true},"access_rights":{"tools":{}}}`,
		`{"id":"second","name":"Second","partitions":{"acl":true},"access_rights":{"c":{"allowed_urls":[{"url":"/x","methods":["GET"]}]}}}`,
		`{"id":"all","name":"All","partitions":{"acl":true,"quota":true,"rate_limit":true},"access_rights":{"a":{}}}`,
		`{"id":"limits","name":"Limits","partitions":{"quota":true},"quota_max":5,"quota_renewal_rate":60}`,
	} {
		s.send(t, "POST", "/api/portal/policies", text)
	}
	report, err := synchronise.Run(t.Context(), p, records)
	if err != nil || len(report.Problems) != 1 || report.Problems[0].Fault.Code != synchronise.CodeStale || report.Stored != 3 || report.Writes != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	all, _ := records.List(t.Context())
	var names []string
	for _, r := range all {
		names = append(names, r.Terms.Name)
	}
	if strings.Join(names, " ") != "First Second Limits" {
		t.Fatal(names)
	}
	second := records.product(t, all[1].CID)
	second.DisplayName, second.Catalogues = "Kept", []table.ID{7}
	records.add(t, second)
	n := s.policy(t, "second")
	n.Set("name", doc.NewString("Renamed"))
	n.Set("id", doc.NewString("other"))
	s.send(t, "PUT", "/api/portal/policies/second", string(n.JSON()))
	if look, err := synchronise.Look(t.Context(), p, records); err != nil || len(look.Differences) != 2 || look.Writes+look.Stored != 0 {
		t.Errorf("%+v, %v", look, err)
	}
	if _, err := synchronise.Run(t.Context(), p, records); err != nil {
		t.Fatal(err)
	}
	if got := records.product(t, second.CID); got.Name != "Renamed" || got.Ref.Name() != "other" || got.DisplayName != "Kept" || len(got.Catalogues) != 1 {
		t.Errorf("%+v", got)
	}
	// A change in the portal keeps settings of the dashboard.
	second = records.product(t, second.CID).WithAPIs([]string{"a", "c"})
	records.add(t, second)
	if _, err := synchronise.Run(t.Context(), p, records); err != nil {
		t.Fatal(err)
	}
	if n := s.policy(t, "other"); n.Get("access_rights", "c", "allowed_urls").Len() != 1 || n.Get("access_rights", "a", "api_name").Text() != "API a" {
		t.Error(string(n.JSON()))
	}
	// Deleted, and restored.
	n = s.policy(t, "limits")
	s.send(t, "DELETE", "/api/portal/policies/limits", "")
	_, _ = synchronise.Run(t.Context(), p, records)
	if !records.plan(t, all[2].CID).Hidden {
		t.Error("the plan is not hidden")
	}
	s.send(t, "POST", "/api/portal/policies", string(n.JSON()))
	_, _ = synchronise.Run(t.Context(), p, records)
	if records.plan(t, all[2].CID).Hidden {
		t.Error("the plan is still hidden")
	}
}

var errAbort = errors.New("killed")

// fragile ends a run after a number of writes to either side.
type fragile struct {
	dashboard.Dashboard
	synchronise.Records
	left *int
}

func (f fragile) spend() error {
	if *f.left == 0 {
		return errAbort
	}
	*f.left--
	return nil
}

func (f fragile) Create(ctx context.Context, n *doc.Node) (sync.Ref, error) {
	if err := f.spend(); err != nil {
		return sync.Ref{}, err
	}
	return f.Dashboard.Create(ctx, n)
}

func (f fragile) Replace(ctx context.Context, p dashboard.Policy) error {
	if err := f.spend(); err != nil {
		return err
	}
	return f.Dashboard.Replace(ctx, p)
}

func (f fragile) Delete(ctx context.Context, ref sync.Ref) error {
	if err := f.spend(); err != nil {
		return err
	}
	return f.Dashboard.Delete(ctx, ref)
}

func (f fragile) Store(ctx context.Context, seen *sync.Record, r sync.Record) error {
	if err := f.spend(); err != nil {
		return err
	}
	return f.Records.Store(ctx, seen, r)
}

func (f fragile) Forget(ctx context.Context, r sync.Record) error {
	if err := f.spend(); err != nil {
		return err
	}
	return f.Records.Forget(ctx, r)
}

// busy makes a portal and a dashboard with all kinds of differences: creations, changes
// on both sides, a product that loses its APIs, one that gets others, deletions,
// imports, and a policy that is gone.
func busy(t *testing.T) (service, shelf) {
	s, records := newService(t), newShelf(t)
	p := synchronise.Provider{Dashboard: s.local()}
	records.add(t, gold(1, "a"), gold(2, "a"), gold(3, "a"), gold(4, "a"), silver(5), silver(6), silver(7))
	run(t, p, records)
	records.add(t, records.product(t, cid(2)).WithAPIs(nil))
	run(t, p, records)

	records.add(t, records.product(t, cid(1)).WithAPIs(nil), records.product(t, cid(2)).WithAPIs([]string{"c"}))
	three := records.product(t, cid(3))
	three.DeletedAt = time.Unix(1, 0)
	five := records.plan(t, cid(5))
	five.KeyExpiresIn = 60
	records.add(t, three, five, gold(8, "b"), silver(9))
	s.send(t, "DELETE", "/api/portal/policies/"+records.plan(t, cid(6)).Ref.ID, "")
	seven := records.plan(t, cid(7)).Ref.ID
	n := s.policy(t, seven)
	n.Set("rate", doc.NewInt(77))
	s.send(t, "PUT", "/api/portal/policies/"+seven, string(n.JSON()))
	s.send(t, "POST", "/api/portal/policies", `{"id":"new","name":"New","partitions":{"acl":true},"access_rights":{"a":{}}}`)
	return s, records
}

// outcome returns the relevant state of a portal and its dashboard after
// synchronisation.
func outcome(t *testing.T, s service, records shelf) string {
	t.Helper()
	all, err := records.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	known := map[string]bool{}
	for _, r := range all {
		fmt.Fprintln(&b, r.Kind, r.Terms.Name, r.Terms.APIs, r.Terms.Draft, r.Terms.Rate, r.Terms.KeyExpiresIn, r.Hidden, r.Deleted, r.Generation)
		known[r.Ref.ID] = true
	}
	list, err := s.local().Policies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		left := strings.Contains(string(n.Get("tags").JSON()), "portal-left-")
		if id := n.Get("id").Text(); !known[id] && !left {
			t.Errorf("the policy %s is an orphan", id)
		}
		fmt.Fprintln(&b, n.Get("name").Text(), n.Get("state").Text(), n.Get("access_rights").Names(), left)
	}
	return b.String()
}

// TestAborted ends a run after each of its writes: the next run completes it, leaves
// nothing behind, and reaches the state of an uninterrupted run.
func TestAborted(t *testing.T) {
	s, records := busy(t)
	report := run(t, synchronise.Provider{Dashboard: s.local()}, records)
	want, writes := outcome(t, s, records), report.Writes+report.Stored
	if writes < 12 {
		t.Fatalf("only %d writes", writes)
	}
	for k := range writes {
		s, records := busy(t)
		left := k
		f := fragile{s.local(), records, &left}
		if _, err := synchronise.Run(t.Context(), synchronise.Provider{Dashboard: f}, f); !errors.Is(err, errAbort) {
			t.Fatalf("after %d writes: %v", k, err)
		}
		p := synchronise.Provider{Dashboard: s.local()}
		run(t, p, records)
		if got := outcome(t, s, records); got != want {
			t.Errorf("after %d of %d writes:\n%s\nwant\n%s", k, writes, got, want)
		}
		quiet(t, s, p, records)
	}
}

// refusing is a dashboard that refuses one policy.
type refusing struct {
	dashboard.Dashboard
	name string
	err  error
}

func (r refusing) Create(ctx context.Context, n *doc.Node) (sync.Ref, error) {
	if n.Get("name").Text() == r.name {
		return sync.Ref{}, r.err
	}
	return r.Dashboard.Create(ctx, n)
}

// TestOneIsRefused: the others are synchronised, and the refused one stays unchanged.
func TestOneIsRefused(t *testing.T) {
	s, records := newService(t), newShelf(t)
	records.add(t, silver(1), silver(2), silver(3))
	d := refusing{s.local(), silver(2).Name, fmt.Errorf("no: %w", dashboard.ErrRefused)}
	report, err := synchronise.Run(t.Context(), synchronise.Provider{Dashboard: d}, records)
	if err != nil || len(report.Problems) != 1 || report.Problems[0].Record != cid(2) || report.Problems[0].Fault.Code != synchronise.CodeWrite || report.Writes != 2 || s.policies(t) != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	if records.plan(t, cid(2)).Agreed != nil || records.plan(t, cid(3)).Agreed == nil {
		t.Error("stored what was refused, or not what was done")
	}
	d.err = fmt.Errorf("no: %w", dashboard.ErrUnreachable)
	if report, err = synchronise.Run(t.Context(), synchronise.Provider{Dashboard: d}, records); !errors.Is(err, dashboard.ErrUnreachable) || report.Writes != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// meddling changes a policy, or a record, between the read and the write.
type meddling struct {
	dashboard.Dashboard
	synchronise.Records
	list, policy func()
}

func (m meddling) Policy(ctx context.Context, ref sync.Ref) (dashboard.Policy, error) {
	m.policy()
	return m.Dashboard.Policy(ctx, ref)
}

func (m meddling) List(ctx context.Context) ([]sync.Record, error) {
	out, err := m.Records.List(ctx)
	m.list()
	return out, err
}

// TestChangesMeanwhile: changes during a run are not overwritten.
func TestChangesMeanwhile(t *testing.T) {
	s, records := newService(t), newShelf(t)
	p := synchronise.Provider{Dashboard: s.local()}
	records.add(t, silver(1))
	run(t, p, records)
	id := records.plan(t, cid(1)).Ref.ID
	change := func() {
		n := s.policy(t, id)
		n.Set("rate", doc.NewInt(n.Get("rate").Int()+1))
		s.send(t, "PUT", "/api/portal/policies/"+id, string(n.JSON()))
	}
	one := records.plan(t, cid(1))
	one.KeyExpiresIn = 60
	records.add(t, one)
	m := meddling{s.local(), records, func() {}, change}
	report, err := synchronise.Run(t.Context(), synchronise.Provider{Dashboard: m}, m)
	if err != nil || len(report.Problems) != 1 || report.Problems[0].Fault.Code != synchronise.CodeMoved || s.policy(t, id).Get("key_expires_in").Int() != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	run(t, p, records)
	if n := s.policy(t, id); n.Get("key_expires_in").Int() != 60 || n.Get("rate").Int() != 11 || records.plan(t, cid(1)).RateLimit != 11 {
		t.Error(string(n.JSON()))
	}
	change()
	m = meddling{s.local(), records, func() {
		one := records.plan(t, cid(1))
		one.Quota, one.UnlimitedQuota = 5, false
		records.add(t, one)
	}, func() {}}
	report, err = synchronise.Run(t.Context(), synchronise.Provider{Dashboard: m}, m)
	if err != nil || len(report.Problems) != 1 || report.Problems[0].Fault.Code != synchronise.CodeMoved || records.plan(t, cid(1)).Quota != 5 {
		t.Errorf("%+v, %v", report, err)
	}
	run(t, p, records)
	if n := s.policy(t, id); n.Get("quota_max").Int() != 5 || records.plan(t, cid(1)).RateLimit != 12 {
		t.Error(string(n.JSON()))
	}
}

// TestCarry: a change goes to the dashboard at once, with the necessary calls only.
func TestCarry(t *testing.T) {
	s := newService(t)
	p := synchronise.Provider{Dashboard: s.remote()}
	carry := func(r sync.Record, writes int64) sync.Record {
		t.Helper()
		before := s.writes.Load()
		out, made, err := synchronise.Carry(t.Context(), p, r)
		if made != (r.Agreed == nil) {
			t.Errorf("made: %v", made)
		}
		if err != nil || s.writes.Load()-before != writes || out.Pending() {
			t.Fatalf("%v, %d writes, %+v", err, s.writes.Load()-before, out)
		}
		return out
	}
	one := silver(1)
	one = one.Take(carry(one.Record(), 1))
	one = one.Take(carry(one.Record(), 0))
	one.Description = "portal only"
	reads := s.reads.Load()
	if carry(one.Record(), 0); s.reads.Load() != reads {
		t.Error("a change of the portal alone makes calls")
	}
	one.KeyExpiresIn = 60
	one = one.Take(carry(one.Record(), 1))
	two := gold(2, "a")
	first := sync.Ref{}
	for _, apis := range []struct {
		ids    []string
		writes int64
	}{{[]string{"a"}, 1}, {nil, 1}, {[]string{"b"}, 1}, {nil, 1}, {[]string{"c"}, 2}} {
		two = two.WithAPIs(apis.ids)
		two = two.Take(carry(two.Record(), apis.writes))
		if first == (sync.Ref{}) {
			first = two.Ref
		}
	}
	if first == two.Ref || s.policies(t) != 3 {
		t.Errorf("%+v, %d policies", two.Ref, s.policies(t))
	}
	bad := two.WithAPIs([]string{"c", "gone"})
	if _, _, err := synchronise.Carry(t.Context(), p, bad.Record()); fault.CodeOf(err) != synchronise.CodeCarry {
		t.Error(err)
	}
	three := silver(3)
	three.Name = one.Name
	if _, _, err := synchronise.Carry(t.Context(), p, three.Record()); fault.CodeOf(err) != synchronise.CodeCarry {
		t.Error(err)
	}
	two.DeletedAt = time.Unix(1, 0)
	before := s.writes.Load()
	if _, _, err := synchronise.Carry(t.Context(), p, two.Record()); err != nil || s.policies(t) != 1 || s.writes.Load()-before != 2 {
		t.Error(err, s.policies(t))
	}
	s.send(t, "DELETE", "/api/portal/policies/"+one.Ref.Name(), "")
	one.KeyExpiresIn = 0
	if _, _, err := synchronise.Carry(t.Context(), p, one.Record()); fault.KindOf(err) != fault.Unavailable {
		t.Error(err)
	}
}

// BenchmarkSync synchronises 1,000 products and plans: new ones, changed ones, and
// unchanged ones, which are only read.
func BenchmarkSync(b *testing.B) {
	for name, open := range map[string]func(service) dashboard.Dashboard{"in-process": service.local, "HTTP": service.remote} {
		for _, work := range []string{"make", "change", "nothing"} {
			b.Run(name+"/"+work, func(b *testing.B) {
				var writes, reads int64
				for b.Loop() {
					b.StopTimer()
					s, records := newService(b), newShelf(b)
					p := synchronise.Provider{Dashboard: open(s)}
					for i := range 500 {
						records.add(b, gold(i, "a"), silver(1000+i))
					}
					if work != "make" {
						run(b, p, records)
					}
					for i := range 500 {
						if work == "change" {
							one := records.plan(b, cid(1000+i))
							one.KeyExpiresIn = 60
							records.add(b, one)
						}
					}
					beforeReads, beforeWrites := s.reads.Load(), s.writes.Load()
					b.StartTimer()
					report := run(b, p, records)
					b.StopTimer()
					reads, writes = s.reads.Load()-beforeReads, s.writes.Load()-beforeWrites
					if want := map[string]int{"make": 1000, "change": 500}[work]; report.Writes != want {
						b.Fatalf("%d writes, want %d", report.Writes, want)
					}
					b.StartTimer()
				}
				b.ReportMetric(float64(reads), "reads")
				b.ReportMetric(float64(writes), "writes")
			})
		}
	}
}
