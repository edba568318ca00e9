// Package dashboardtest is the test suite that every dashboard.Dashboard passes.
package dashboardtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// World is a dashboard with the APIs orders (tokens) and claims (JWTs) and the MCP proxy
// tools.
type World struct {
	dashboard.Dashboard
	Stranger dashboard.Dashboard // with an unknown credential
	Other    dashboard.Dashboard // of another organisation
	Reader   dashboard.Dashboard // as a user who may only read policies, and no APIs
	Away     dashboard.Dashboard // does not respond
	Secret   string              // the credential, which no error may hold
}

// Run runs the suite. open makes a new world.
func Run(t *testing.T, open func(t *testing.T) World) {
	for name, test := range map[string]func(*testing.T, World){
		"policies": policies, "APIs": apis, "creating twice": twice, "changes meanwhile": meanwhile, "refusals": refusals,
		"other organisations": others, "names of others": names, "keys": keys, "keys, refused": keyRefusals, "a dashboard that is away": away, "deadlines": deadlines, "registry": entries, "definitions": definitions, "OAuth clients": clients,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// plan is the document of a plan's policy, with the custom identifier that administrators
// may choose.
func plan(id, name string) *doc.Node {
	n := sync.New(sync.Policy{Kind: sync.KindPlan, Terms: sync.Terms{Name: name, Rate: 10, Per: 1, Quota: -1, QuotaRenewal: -1}}, nil, "")
	n.Set("id", doc.NewString(id))
	return n
}

func create(t *testing.T, d dashboard.Dashboard, id, name string) sync.Ref {
	t.Helper()
	ref, err := d.Create(t.Context(), plan(id, name))
	if err != nil || ref.ObjectID == "" || ref.ID != id {
		t.Fatalf("created %+v, %v", ref, err)
	}
	return ref
}

func policies(t *testing.T, w World) {
	ctx := t.Context()
	if list, err := w.Policies(ctx); err != nil || len(list) != 0 {
		t.Fatalf("%v, %v", list, err)
	}
	var refs []sync.Ref
	for i := range 25 { // more than one page
		refs = append(refs, create(t, w, fmt.Sprint("p", i), fmt.Sprint("Plan ", i)))
	}
	list, err := w.Policies(ctx)
	if err != nil || len(list) != len(refs) {
		t.Fatalf("%d, %v", len(list), err)
	}
	for i, n := range list {
		if n.Get("_id").Text() != refs[i].ObjectID {
			t.Errorf("policy %d is %s", i, n.Get("name").Text())
		}
	}
	for _, ref := range []sync.Ref{refs[3], {ObjectID: refs[3].ObjectID}, {ID: refs[3].ID}} {
		p, err := w.Policy(ctx, ref)
		if err != nil || p.Ref() != refs[3] || p.Document.Get("rate").Int() != 10 {
			t.Fatalf("%+v: %v", ref, err)
		}
	}
	p, err := w.Policy(ctx, refs[3])
	if err != nil {
		t.Fatal(err)
	}
	p.Document.Set("key_expires_in", doc.NewInt(60))
	if err := w.Replace(ctx, p); err != nil {
		t.Fatal(err)
	}
	if p, err = w.Policy(ctx, refs[3]); err != nil || p.Document.Get("key_expires_in").Int() != 60 || p.Ref() != refs[3] {
		t.Fatal(err, string(p.Document.JSON()))
	}
	for range 2 { // the second time, it is gone already
		if err := w.Delete(ctx, refs[3]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Policy(ctx, refs[3]); !errors.Is(err, dashboard.ErrGone) {
		t.Error(err)
	}
	if err := w.Replace(ctx, p); !errors.Is(err, dashboard.ErrGone) {
		t.Error(err)
	}
	if list, _ := w.Policies(ctx); len(list) != len(refs)-1 {
		t.Error(len(list))
	}
}

func apis(t *testing.T, w World) {
	list, err := w.APIs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	index := sync.NewIndex(list)
	orders, claims, tools := index["orders"], index["claims"], index["tools"]
	if orders.Name != "Orders" || !orders.Active || orders.ListenPath != "/orders/" || orders.Target == "" || !slices.Equal(orders.AuthTypes, []string{"authToken"}) || orders.Proxy {
		t.Errorf("%+v", orders)
	}
	if !slices.Equal(claims.AuthTypes, []string{"jwt"}) || !tools.Proxy || len(list) != 3 {
		t.Errorf("%+v", list)
	}
	// A user who may not list APIs gets an error. A user who may not list MCP proxies gets the
	// others.
	if _, err := w.Reader.APIs(t.Context()); !errors.Is(err, dashboard.ErrRefused) {
		t.Error(err)
	}
}

func twice(t *testing.T, w World) {
	sent := plan("", "Gold")
	sent.Delete("id")
	ref, err := w.Create(t.Context(), sent)
	if p, missing := w.Policy(t.Context(), sync.Ref{ObjectID: ref.ObjectID}); err != nil || missing != nil || ref != p.Ref() || len(ref.ObjectID) != 24 {
		t.Fatalf("without an identifier: %+v, %v, %v", ref, err, missing)
	}
	if found, err := dashboard.Find(t.Context(), w, sent); err != nil || found != ref {
		t.Errorf("%+v is found as %+v, %v", ref, found, err)
	}
	for _, again := range []*doc.Node{sent, plan("silver", "Gold")} {
		if _, err := w.Create(t.Context(), again); !errors.Is(err, dashboard.ErrRefused) {
			t.Errorf("a name that is taken: %v", err)
		}
	}
	if list, _ := w.Policies(t.Context()); len(list) != 1 {
		t.Errorf("%d policies", len(list))
	}
	sent.Set("rate", doc.NewInt(11))
	if _, err := dashboard.Find(t.Context(), w, sent); !errors.Is(err, dashboard.ErrGone) {
		t.Errorf("a policy that says otherwise: %v", err)
	}
}

func meanwhile(t *testing.T, w World) {
	ref := create(t, w, "gold", "Gold")
	mine, err := w.Policy(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := w.Policy(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	theirs.Document.Set("rate", doc.NewInt(99))
	if err := w.Replace(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	mine.Document.Set("per", doc.NewInt(99))
	if err := w.Replace(t.Context(), mine); !errors.Is(err, dashboard.ErrChanged) {
		t.Error(err)
	}
	if p, _ := w.Policy(t.Context(), ref); p.Document.Get("rate").Int() != 99 || p.Document.Get("per").Int() == 99 {
		t.Error(string(p.Document.JSON()))
	}
}

// every calls all methods.
func every(ctx context.Context, d dashboard.Dashboard, ref sync.Ref) map[string]error {
	out := map[string]error{}
	_, out["policies"] = d.Policies(ctx)
	_, out["APIs"] = d.APIs(ctx)
	_, out["policy"] = d.Policy(ctx, ref)
	_, out["create"] = d.Create(ctx, plan("new", "New"))
	document := plan(ref.ID, "Gold")
	document.Set("_id", doc.NewString(ref.ObjectID))
	out["replace"] = d.Replace(ctx, dashboard.Policy{Document: document})
	out["delete"] = d.Delete(ctx, ref)
	return out
}

func refusals(t *testing.T, w World) {
	ref := create(t, w, "gold", "Gold")
	for name, err := range every(t.Context(), w.Stranger, ref) {
		if !errors.Is(err, dashboard.ErrRefused) {
			t.Errorf("a stranger, %s: %v", name, err)
		}
	}
	for name, err := range every(t.Context(), w.Reader, ref) {
		if read := name == "policies" || name == "policy"; read != (err == nil) || !read && !errors.Is(err, dashboard.ErrRefused) {
			t.Errorf("a reader, %s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), w.Secret) {
			t.Errorf("%s tells the credential", name)
		}
	}
	if _, err := w.Create(t.Context(), plan("bad id/", "Bad")); !errors.Is(err, dashboard.ErrRefused) {
		t.Error(err)
	}
	if _, err := w.Policy(t.Context(), ref); err != nil {
		t.Error(err)
	}
}

func others(t *testing.T, w World) {
	ref := create(t, w, "gold", "Gold")
	if _, err := w.Other.Policy(t.Context(), ref); !errors.Is(err, dashboard.ErrGone) {
		t.Error(err)
	}
	if err := w.Other.Delete(t.Context(), ref); err != nil { // it has no such policy
		t.Error(err)
	}
	if list, err := w.Other.Policies(t.Context()); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	if _, err := w.Policy(t.Context(), ref); err != nil {
		t.Error(err)
	}
}

// names: a policy may have the _id of another policy as its custom identifier. It receives no
// call that is meant for the other policy.
func names(t *testing.T, w World) {
	ref := create(t, w, "gold", "Gold")
	thief := create(t, w, ref.ObjectID, "Thief")
	if _, err := w.Policy(t.Context(), ref); !errors.Is(err, dashboard.ErrRefused) {
		t.Error(err)
	}
	if err := w.Delete(t.Context(), ref); !errors.Is(err, dashboard.ErrRefused) {
		t.Error(err)
	}
	if p, err := w.Policy(t.Context(), sync.Ref{ObjectID: thief.ObjectID}); err != nil || p.Document.Get("name").Text() != "Thief" {
		t.Error(err)
	}
}

func away(t *testing.T, w World) {
	for name, err := range every(t.Context(), w.Away, sync.Ref{ObjectID: "5f1a0c5d8e3b2a1f00000001", ID: "gold"}) {
		if !errors.Is(err, dashboard.ErrUnreachable) || strings.Contains(err.Error(), w.Secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func deadlines(t *testing.T, w World) {
	ref := create(t, w, "gold", "Gold")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Delete(ctx, ref); err == nil {
		t.Error("deleted after the deadline")
	}
	if _, err := w.Policy(t.Context(), ref); err != nil {
		t.Error(err)
	}
}
