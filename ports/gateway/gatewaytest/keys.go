package gatewaytest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// Sessions that tests store.
const (
	ownRights  = `{"alias":"ours","rate":7,"per":60,"quota_max":5,"quota_renewal_rate":3600,"access_rights":{"orders":{"api_id":"orders","api_name":"Orders","versions":["Default"]}},"tags":["blue"],"meta_data":{"team":"a"}}`
	goldRights = `{"apply_policies":["gold"]}`
	bob        = `{"basic_auth_data":{"password":"correct horse battery"},"apply_policies":["gold"]}`
	// chosen is an identifier in the form that the control plane makes.
	chosen = "5b30e703029749b9bad23d9c53baf6e8"
	absent = "ffffffff0297ffffbad23d9c53baf6e8"
)

func byKey(id string) gateway.KeyName    { return gateway.KeyName{Text: id, By: gateway.ByKey} }
func byHash(hash string) gateway.KeyName { return gateway.KeyName{Text: hash, By: gateway.ByHash} }
func byUser(name string) gateway.KeyName { return gateway.KeyName{Text: name, By: gateway.ByUser} }

// create stores a key, and fails if it has no name or another organisation.
func create(t *testing.T, w World, org tenant.ID, id, session string) gateway.StoredKey {
	t.Helper()
	s := doctest.Node(t, session)
	before := string(s.JSON())
	k, err := w.Keys.CreateKey(t.Context(), org, id, s)
	if err != nil {
		t.Fatal("create:", err)
	}
	if k.Hash == "" || k.Session.Get("org_id").Text() != string(org) {
		t.Fatalf("created %s: %s", k.Hash, k.Session.JSON())
	}
	if after := string(s.JSON()); after != before {
		t.Errorf("the session of the caller has become %s", after)
	}
	return k
}

// read returns a key that exists.
func read(t *testing.T, w World, org tenant.ID, name gateway.KeyName) gateway.StoredKey {
	t.Helper()
	k, err := w.Keys.Key(t.Context(), org, name)
	if err != nil {
		t.Fatalf("read by %d: %v", name.By, err)
	}
	return k
}

// list returns the hashes of keys, and fails if they are not in order.
func list(t *testing.T, w World, org tenant.ID, api string) []string {
	t.Helper()
	hashes, err := w.Keys.Keys(t.Context(), org, api)
	if err != nil {
		t.Fatal("list:", err)
	}
	if !slices.IsSorted(hashes) {
		t.Errorf("not in order: %v", hashes)
	}
	return hashes
}

func sorted(hashes ...string) []string { slices.Sort(hashes); return hashes }

func life(t *testing.T, w World) {
	ctx := t.Context()
	made := create(t, w, Org, chosen, `{"org_id":"`+string(Other)+`",`+ownRights[1:])
	if made.ID == "" {
		t.Fatal("a key without an identifier")
	}
	for _, name := range []gateway.KeyName{byKey(made.ID), byKey(chosen), byHash(made.Hash)} {
		k := read(t, w, Org, name)
		if k.Hash != made.Hash || k.Session.Get("alias").Text() != "ours" || k.Session.Get("rate").Float() != 7 || k.Session.Get("meta_data", "team").Text() != "a" {
			t.Errorf("by %d: %s %s", name.By, k.Hash, k.Session.JSON())
		}
		if known := name.By == gateway.ByKey; known != (k.ID != "") {
			t.Errorf("by %d the identifier is known: %t", name.By, k.ID != "")
		}
	}
	for i, name := range []gateway.KeyName{byKey(made.ID), byKey(chosen), byHash(made.Hash)} {
		s := doctest.Node(t, ownRights)
		s.Set("rate", doc.NewInt(int64(20+i)))
		s.Delete("tags")
		k, err := w.Keys.ReplaceKey(ctx, Org, name, s, true)
		if err != nil || k.Hash != made.Hash || k.Session.Get("rate").Int() != int64(20+i) || k.Session.Get("tags").Len() != 0 {
			t.Fatalf("replace by %d: %v, %s", name.By, err, k.Hash)
		}
		if k = read(t, w, Org, byHash(made.Hash)); k.Session.Get("rate").Int() != int64(20+i) || k.Session.Get("org_id").Text() != string(Org) {
			t.Errorf("replaced by %d: %s", name.By, k.Session.JSON())
		}
	}
	if got := list(t, w, Org, ""); !slices.Equal(got, []string{made.Hash}) {
		t.Errorf("listed %v", got)
	}
	for _, name := range []gateway.KeyName{byKey(made.ID), byKey(chosen), byHash(made.Hash)} {
		k := create(t, w, Org, chosen, ownRights)
		if err := w.Keys.DeleteKey(ctx, Org, name); err != nil {
			t.Fatalf("delete by %d: %v", name.By, err)
		}
		if _, err := w.Keys.Key(ctx, Org, byHash(k.Hash)); !errors.Is(err, gateway.ErrUnknown) {
			t.Errorf("deleted by %d, then: %v", name.By, err)
		}
	}
	// Clients send an empty basic_auth_data with every key: it does not make the key a user.
	plain := create(t, w, Org, chosen, `{"basic_auth_data":{"password":"","hash_type":""},`+ownRights[1:])
	if read(t, w, Org, byKey(chosen)).ID == "" || plain.ID == "" {
		t.Error("a key with an empty basic_auth_data has no identifier")
	}
	if err := w.Keys.DeleteKey(ctx, Org, byKey(chosen)); err != nil {
		t.Fatal(err)
	}
	if got := list(t, w, Org, ""); len(got) != 0 {
		t.Errorf("listed %v", got)
	}
}

func absence(t *testing.T, w World) {
	ctx := t.Context()
	create(t, w, Org, chosen, ownRights)
	for _, name := range []gateway.KeyName{byKey(absent), byHash("0123456789abcdef"), byUser("nemo"), byHash(absent), byKey("x y/z?#%"), byHash("../org/keys")} {
		if _, err := w.Keys.Key(ctx, Org, name); !errors.Is(err, gateway.ErrUnknown) {
			t.Errorf("read %v: %v", name, err)
		}
		if _, err := w.Keys.ReplaceKey(ctx, Org, name, doctest.Node(t, ownRights), false); !errors.Is(err, gateway.ErrUnknown) {
			t.Errorf("replace %v: %v", name, err)
		}
		if err := w.Keys.DeleteKey(ctx, Org, name); !errors.Is(err, gateway.ErrUnknown) {
			t.Errorf("delete %v: %v", name, err)
		}
	}
	if got := list(t, w, Org, ""); len(got) != 1 {
		t.Errorf("listed %v", got)
	}
}

func again(t *testing.T, w World) {
	first := create(t, w, Org, chosen, ownRights)
	second := create(t, w, Org, chosen, strings.Replace(ownRights, "ours", "still ours", 1))
	if first.Key != second.Key {
		t.Error("one identifier names two keys")
	}
	if got := list(t, w, Org, ""); !slices.Equal(got, []string{first.Hash}) {
		t.Errorf("listed %v", got)
	}
	if alias := read(t, w, Org, byKey(chosen)).Session.Get("alias").Text(); alias != "still ours" {
		t.Error(alias)
	}
}

func generated(t *testing.T, w World) {
	a, b := create(t, w, Org, "", ownRights), create(t, w, Org, "", ownRights)
	if a.ID == "" || a.ID == b.ID || a.Hash == b.Hash {
		t.Error("keys are not told apart")
	}
	if got := list(t, w, Org, ""); !slices.Equal(got, sorted(a.Hash, b.Hash)) {
		t.Errorf("listed %v", got)
	}
	if got := read(t, w, Org, byKey(a.ID)); got.Hash != a.Hash {
		t.Error("it is not found by its identifier")
	}
}

func foreign(t *testing.T, w World) {
	ctx := t.Context()
	mine := create(t, w, Org, chosen, ownRights)
	user := create(t, w, Org, "bob", bob)
	for name, want := range map[gateway.KeyName]error{
		byKey(mine.ID): gateway.ErrForeign, byHash(mine.Hash): gateway.ErrForeign, byHash(user.Hash): gateway.ErrForeign,
		byKey(chosen): gateway.ErrUnknown, byUser("bob"): gateway.ErrUnknown,
	} {
		if k, err := w.Keys.Key(ctx, Other, name); !errors.Is(err, want) || k.Session != nil {
			t.Errorf("read by %d: %v", name.By, err)
		}
		if _, err := w.Keys.ReplaceKey(ctx, Other, name, doctest.Node(t, `{"alias":"taken","apply_policies":["theirs"]}`), false); !errors.Is(err, want) {
			t.Errorf("replace by %d: %v", name.By, err)
		}
		if err := w.Keys.DeleteKey(ctx, Other, name); !errors.Is(err, want) {
			t.Errorf("delete by %d: %v", name.By, err)
		}
	}
	for _, api := range []string{"", "orders"} {
		if got := list(t, w, Other, api); len(got) != 0 {
			t.Errorf("listed %v", got)
		}
	}
	if k := read(t, w, Org, byHash(mine.Hash)); k.Session.Get("alias").Text() != "ours" {
		t.Errorf("%s", k.Session.JSON())
	}
}

// namesakes: two organisations can use the same identifier. Deleting and replacing one key
// does not affect the other.
func namesakes(t *testing.T, w World) {
	mine := create(t, w, Org, chosen, ownRights)
	theirs := create(t, w, Other, chosen, `{"alias":"theirs","apply_policies":["theirs"]}`)
	if mine.Hash == theirs.Hash || mine.ID == theirs.ID {
		t.Fatal("two organisations have one key")
	}
	if got := read(t, w, Org, byKey(chosen)); got.Hash != mine.Hash || got.Session.Get("alias").Text() != "ours" {
		t.Errorf("%s", got.Session.JSON())
	}
	if mineNow, theirsNow := list(t, w, Org, ""), list(t, w, Other, ""); !slices.Equal(mineNow, []string{mine.Hash}) || !slices.Equal(theirsNow, []string{theirs.Hash}) {
		t.Errorf("%v and %v", mineNow, theirsNow)
	}
	if err := w.Keys.DeleteKey(t.Context(), Org, byKey(chosen)); err != nil {
		t.Fatal(err)
	}
	if got := list(t, w, Other, ""); !slices.Equal(got, []string{theirs.Hash}) {
		t.Errorf("%v", got)
	}
	if got := list(t, w, Org, ""); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func lists(t *testing.T, w World) {
	own, policy := create(t, w, Org, "", ownRights), create(t, w, Org, "", goldRights)
	other := create(t, w, Org, "", `{"apply_policies":["silver"]}`)
	create(t, w, Other, "", `{"apply_policies":["theirs"]}`)
	// A key of another organisation that names an API of this one is not listed for it.
	create(t, w, Other, "", ownRights)
	for api, want := range map[string][]string{
		"orders": sorted(own.Hash, policy.Hash), "claims": {other.Hash}, "elsewhere": nil, "none": nil, "": sorted(own.Hash, policy.Hash, other.Hash),
	} {
		if got := list(t, w, Org, api); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", api, got, want)
		}
	}
	if _, err := w.Keys.ReplaceKey(t.Context(), Org, byHash(policy.Hash), doctest.Node(t, `{"apply_policies":["silver"]}`), false); err != nil {
		t.Fatal(err)
	}
	if got := list(t, w, Org, "claims"); !slices.Equal(got, sorted(other.Hash, policy.Hash)) {
		t.Errorf("after a change: %v", got)
	}
}

// policies: a stored session gets the rights and limits of its policies.
func policies(t *testing.T, w World) {
	for _, session := range []string{goldRights, `{"apply_policy_id":"gold"}`} {
		k := read(t, w, Org, byHash(create(t, w, Org, chosen, session).Hash))
		right := k.Session.Get("access_rights", "orders")
		if right.Get("api_id").Text() != "orders" || right.Get("limit", "rate").Float() != 100 || k.Session.Get("rate").Float() != 100 || k.Session.Get("quota_max").Int() != 5 {
			t.Errorf("%s: %s", session, k.Session.JSON())
		}
	}
}

// refusals: gateways reject these sessions and store nothing of them.
func refusals(t *testing.T, w World) {
	ctx := t.Context()
	k := create(t, w, Org, chosen, ownRights)
	for _, session := range []string{
		`{}`, `{"access_rights":{}}`, `{"apply_policies":["none"]}`, `{"apply_policies":["theirs"]}`, `{"apply_policies":["gold","none"]}`,
		`{"rate":"7","access_rights":{"orders":{"api_id":"orders","versions":["Default"]}}}`,
	} {
		for _, id := range []string{absent, ""} {
			if _, err := w.Keys.CreateKey(ctx, Org, id, doctest.Node(t, session)); !errors.Is(err, gateway.ErrRefused) {
				t.Errorf("create %s: %v", session, err)
			}
		}
		if _, err := w.Keys.ReplaceKey(ctx, Org, byHash(k.Hash), doctest.Node(t, session), false); !errors.Is(err, gateway.ErrRefused) {
			t.Errorf("replace by %s: %v", session, err)
		}
	}
	if got := list(t, w, Org, ""); !slices.Equal(got, []string{k.Hash}) {
		t.Errorf("listed %v", got)
	}
	if now := read(t, w, Org, byHash(k.Hash)); now.Session.Get("alias").Text() != "ours" {
		t.Errorf("%s", now.Session.JSON())
	}
}

func previews(t *testing.T, w World) {
	s, err := w.Keys.PreviewKey(t.Context(), Org, doctest.Node(t, goldRights))
	if err != nil {
		t.Fatal(err)
	}
	if s.Get("rate").Float() != 100 || s.Get("access_rights", "orders", "limit", "quota_max").Int() != 5 || s.Get("org_id").Text() != string(Org) {
		t.Errorf("%s", s.JSON())
	}
	for _, session := range []string{`{"apply_policies":["none"]}`, `{"apply_policies":["theirs"]}`} {
		if s, err := w.Keys.PreviewKey(t.Context(), Org, doctest.Node(t, session)); !errors.Is(err, gateway.ErrRefused) {
			t.Errorf("%s: %v, %v", session, s, err)
		}
	}
	past, future := time.Now().Add(-time.Hour).Unix(), time.Now().Add(time.Hour).Unix() //nolint:forbidigo // gateways go by the clock
	for expires, want := range map[int64]int64{past: 0, future: future, 1: 1, 0: 0} {
		session := doctest.Node(t, ownRights)
		session.Set("expires", doc.NewInt(expires))
		if s, err := w.Keys.PreviewKey(t.Context(), Org, session); err != nil || s.Get("expires").Int() != want || session.Get("expires").Int() != expires {
			t.Errorf("a preview with %d: %v, %v", expires, s, err)
		}
	}
	if got := list(t, w, Org, ""); len(got) != 0 {
		t.Errorf("stored %v", got)
	}
}

// expiry: an expiry in the past is refused for a new key and for a replaced one.
func expiry(t *testing.T, w World) {
	past, future := time.Now().Add(-time.Hour).Unix(), time.Now().Add(time.Hour).Unix() //nolint:forbidigo // gateways go by the clock
	session := func(expires int64) *doc.Node {
		s := doctest.Node(t, ownRights)
		s.Set("expires", doc.NewInt(expires))
		return s
	}
	for _, c := range []struct{ created, stored, replaced, then int64 }{
		{past, 0, future, future}, {future, future, past, future}, {-1, -1, 0, 0}, {0, 0, past, 0}, {1, 1, future, future},
	} {
		k := create(t, w, Org, chosen, string(session(c.created).JSON()))
		if got := read(t, w, Org, byHash(k.Hash)).Session.Get("expires").Int(); got != c.stored {
			t.Errorf("created with %d: %d", c.created, got)
		}
		k, err := w.Keys.ReplaceKey(t.Context(), Org, byHash(k.Hash), session(c.replaced), false)
		if got := k.Session.Get("expires").Int(); err != nil || got != c.then {
			t.Errorf("%d replaced by %d: %d, %v", c.stored, c.replaced, got, err)
		}
		if err := w.Keys.DeleteKey(t.Context(), Org, byHash(k.Hash)); err != nil {
			t.Fatal(err)
		}
	}
}

// counters: the remaining quota is read with the key, and ReplaceKey keeps it or resets it.
func counters(t *testing.T, w World) {
	k := create(t, w, Org, chosen, goldRights)
	left := func() int64 { return read(t, w, Org, byHash(k.Hash)).Session.Get("quota_remaining").Int() }
	if got := left(); got != 5 {
		t.Errorf("a new key has %d left", got)
	}
	if w.Spend == nil {
		return
	}
	w.Spend(t, k.ID)
	w.Spend(t, k.ID)
	if got := left(); got != 3 {
		t.Errorf("after two calls %d are left", got)
	}
	for _, c := range []struct {
		keep bool
		want int64
	}{{true, 3}, {false, 5}} {
		if _, err := w.Keys.ReplaceKey(t.Context(), Org, byHash(k.Hash), doctest.Node(t, goldRights), c.keep); err != nil {
			t.Fatal(err)
		}
		if got := left(); got != c.want {
			t.Errorf("kept %t: %d are left", c.keep, got)
		}
	}
}

// everyKey calls all methods about keys.
func everyKey(ctx context.Context, t *testing.T, keys gateway.Keys, name gateway.KeyName) map[string]error {
	t.Helper()
	out := map[string]error{}
	_, out["create"] = keys.CreateKey(ctx, Org, absent, doctest.Node(t, ownRights))
	_, out["create without an identifier"] = keys.CreateKey(ctx, Org, "", doctest.Node(t, ownRights))
	_, out["read"] = keys.Key(ctx, Org, name)
	_, out["replace"] = keys.ReplaceKey(ctx, Org, name, doctest.Node(t, ownRights), false)
	out["delete"] = keys.DeleteKey(ctx, Org, name)
	_, out["list"] = keys.Keys(ctx, Org, "")
	_, out["list of an API"] = keys.Keys(ctx, Org, "orders")
	_, out["preview"] = keys.PreviewKey(ctx, Org, doctest.Node(t, goldRights))
	return out
}

func keysAway(t *testing.T, w World) {
	k := create(t, w, Org, chosen, ownRights)
	for name, err := range everyKey(t.Context(), t, w.Away.Keys, byKey(k.ID)) {
		if !errors.Is(err, gateway.ErrUnreachable) || strings.Contains(err.Error(), k.ID) || strings.Contains(err.Error(), chosen) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ended(t *testing.T, w World) {
	k := create(t, w, Org, chosen, ownRights)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range everyKey(ctx, t, w.Keys, byKey(k.ID)) {
		if err == nil {
			t.Errorf("%s after the end of the call", name)
		}
	}
	if got := list(t, w, Org, ""); !slices.Equal(got, []string{k.Hash}) {
		t.Errorf("listed %v", got)
	}
}
