package local_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/local"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// counted counts decryptions.
type counted struct {
	secret.Keys
	opened atomic.Int64
}

func (c *counted) Open(sealed string) (string, bool, error) {
	c.opened.Add(1)
	return c.Keys.Open(sealed)
}

// gatewayPolicies are policies as gateways see them; a test can remove them.
type gatewayPolicies map[string]string

func (g gatewayPolicies) policy(_ context.Context, _ store.Reader, id string) (*doc.Node, error) {
	if text, ok := g[id]; ok {
		return doc.ParseNode([]byte(text))
	}
	return nil, fault.New(fault.NotFound, "policy.not_found", "there is none")
}

func newKeys(t *testing.T, policies gatewayPolicies) (*local.Keys, *counted) {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := crypto.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	count := &counted{Keys: secrets}
	return &local.Keys{Store: db, Secrets: count, Passwords: crypto.Passwords{Iterations: 1}, NewID: crypto.NewID(time.Now), Now: time.Now, Policy: policies.policy}, count
}

var sessions = []string{
	`{"access_rights":{"a":{}}}`, `{"access_rights":{"a":{},"b":{}}}`, `{"apply_policies":["all"]}`, `{"access_rights":{"b":{}},"apply_policies":["all"]}`,
	`{"access_rights":{"b":{}},"apply_policies":["limits"]}`, `{"access_rights":{"b":{}},"apply_policies":["limits","rights"]}`,
	`{"access_rights":{"b":{}},"apply_policies":["gone"]}`, `{"access_rights":{"b":{}},"apply_policies":["gone","all"]}`,
	`{"access_rights":{"b":{}},"apply_policies":["nothing"]}`, `{"apply_policy_id":"rights"}`, `{"access_rights":{"c":{}}}`,
}

// The list of an API has the keys whose sessions have a right to it at the time of the
// read.
func TestListSaysWhatSessionsSay(t *testing.T) {
	policies := gatewayPolicies{
		"all": `{"id":"all","access_rights":{"a":{}}}`, "limits": `{"id":"limits","partitions":{"quota":true},"access_rights":{"a":{}}}`,
		"rights": `{"id":"rights","partitions":{"acl":true},"access_rights":{"c":{}}}`, "nothing": `{"id":"nothing"}`, "gone": `{"id":"gone","access_rights":{"a":{}}}`,
	}
	keys, _ := newKeys(t, policies)
	org := tenant.ID("org-a")
	for _, text := range sessions {
		session := doctest.Node(t, text)
		if _, err := keys.CreateKey(t.Context(), org, "", session); err != nil {
			t.Fatal(text, err)
		}
	}
	delete(policies, "gone")
	all, err := keys.Keys(t.Context(), org, "")
	if err != nil || len(all) != len(sessions) {
		t.Fatal(all, err)
	}
	for _, api := range []string{"a", "b", "c", "d"} {
		want := []string{}
		for _, hash := range all {
			k, err := keys.Key(t.Context(), org, gateway.KeyName{Text: hash, By: gateway.ByHash})
			if err != nil {
				t.Fatal(err)
			}
			if k.Session.Get("access_rights", api) != nil {
				want = append(want, hash)
			}
		}
		if got, err := keys.Keys(t.Context(), org, api); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d keys, want %d: %v", api, len(got), len(want), err)
		}
	}
}

// A list does not decrypt all keys: each is decrypted when it is first read.
func TestListsDecryptOnce(t *testing.T) {
	keys, count := newKeys(t, gatewayPolicies{"all": `{"id":"all","access_rights":{"a":{}}}`})
	const n = 1000
	for range n {
		session, err := doc.ParseNode([]byte(`{"apply_policies":["all"]}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keys.CreateKey(t.Context(), "org-a", "", session); err != nil {
			t.Fatal(err)
		}
	}
	for round, most := range []int{n, 0, 0} {
		count.opened.Store(0)
		for _, api := range []string{"", "a"} {
			if got, err := keys.Keys(t.Context(), "org-a", api); err != nil || len(got) != n {
				t.Fatal(len(got), err)
			}
		}
		if got := int(count.opened.Load()); got > most {
			t.Errorf("round %d: two lists decrypted %d keys, want %d at most", round, got, most)
		}
	}
}

var errBroken = errors.New("broken")

type broken struct{ secret.Keys }

func (broken) Open(string) (string, bool, error) { return "", false, errBroken }

// A key that cannot be decrypted makes lists fail; it is not left out.
func TestListFailsOnWhatCannotBeDecrypted(t *testing.T) {
	keys, count := newKeys(t, nil)
	session, err := doc.ParseNode([]byte(`{"access_rights":{"a":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.CreateKey(t.Context(), "org-a", "", session); err != nil {
		t.Fatal(err)
	}
	keys.Secrets = broken{count}
	if got, err := keys.Keys(t.Context(), "org-a", ""); !errors.Is(err, errBroken) {
		t.Error(got, err)
	}
}
