package identity_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// crowd creates three users of three kinds and returns their access keys.
func crowd(t *testing.T, h *house) []string {
	t.Helper()
	h.organisation(t, acme)
	h.organisation(t, other)
	var all []string
	for _, draft := range []string{
		`{"org_id":"` + acme + `","email_address":"a@example.com"}`, `{"org_id":"` + other + `","email_address":"b@example.com"}`, `{"email_address":"root@example.com"}`,
	} {
		_, key := h.user(t, draft)
		all = append(all, key)
	}
	return all
}

// admits returns how many of the keys are accepted.
func (h *house) admits(t *testing.T, all []string) (n int) {
	t.Helper()
	for _, key := range all {
		if _, err := h.login(t, key, access.AnyUser, access.Read); err == nil {
			n++
		} else if fault.KindOf(err) != fault.Unauthenticated {
			t.Error(err)
		}
	}
	return n
}

// TestRekey states that after a rekeying the older secret can be removed: each access
// key, also that of a user without organisation, works with the current secret alone.
func TestRekey(t *testing.T) {
	h := open(t)
	all := crowd(t, h)
	h.Keys = keys(t, second, first)
	for _, want := range []int{3, 0} { // the second time nothing is left to do
		if n, err := h.Rekey(t.Context()); n != want || err != nil {
			t.Errorf("%d access keys, %v; want %d", n, err, want)
		}
	}
	h.Keys = keys(t, second)
	if n := h.admits(t, all); n != 3 {
		t.Errorf("%d access keys work", n)
	}
}

// TestRekeySkips states that an access key that no secret opens stays as it is, and
// that the other keys are still encrypted again.
func TestRekeySkips(t *testing.T) {
	h := open(t)
	h.organisation(t, acme)
	_, lost := h.user(t, `{"org_id":"`+acme+`","email_address":"lost@example.com"}`)
	h.Keys = keys(t, second)
	_, kept := h.user(t, `{"org_id":"`+acme+`","email_address":"kept@example.com"}`)
	h.Keys = keys(t, third, second)
	if n, err := h.Rekey(t.Context()); n != 1 || err != nil {
		t.Errorf("%d access keys, %v", n, err)
	}
	h.Keys = keys(t, third)
	if n := h.admits(t, []string{kept}); n != 1 {
		t.Error("the key that could be opened was lost")
	}
	h.Keys = keys(t, first)
	if n := h.admits(t, []string{lost}); n != 1 {
		t.Error("the key that could not be opened was changed")
	}
}

// TestFitKeys states that the configured secrets are refused at start when users exist
// and none of their access keys opens.
func TestFitKeys(t *testing.T) {
	h := open(t)
	if err := h.FitKeys(t.Context()); err != nil {
		t.Errorf("without users: %v", err)
	}
	crowd(t, h)
	for _, c := range []struct {
		secrets []string
		want    error
	}{{[]string{first}, nil}, {[]string{second, first}, nil}, {[]string{second}, identity.ErrKeys}} {
		h.Keys = keys(t, c.secrets...)
		if err := h.FitKeys(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%q: %v", c.secrets, err)
		}
	}
	h.user(t, `{"org_id":"`+acme+`","email_address":"new@example.com"}`)
	if err := h.FitKeys(t.Context()); err != nil {
		t.Errorf("one user of many fits: %v", err)
	}
}

// TestResetKeys states that exactly the users whose access keys are lost get new ones,
// that tell gets each of them once, and that the new key works.
func TestResetKeys(t *testing.T) {
	h := open(t)
	lost := crowd(t, h)
	h.Keys = keys(t, second)
	_, kept := h.user(t, `{"org_id":"`+acme+`","email_address":"kept@example.com"}`)
	var fresh []string
	told := map[string]bool{}
	tell := func(r identity.Renewed) error {
		fresh, told[r.Email] = append(fresh, r.AccessKey), true
		return nil
	}
	full := errors.New("no space left")
	if err := h.ResetKeys(t.Context(), func(identity.Renewed) error { return full }); !errors.Is(err, full) {
		t.Errorf("keys that could not be told: %v", err)
	}
	for range 2 { // the second time nothing is lost
		if err := h.ResetKeys(t.Context(), tell); err != nil {
			t.Fatal(err)
		}
	}
	if len(fresh) != 3 || !told["a@example.com"] || !told["b@example.com"] || !told["root@example.com"] {
		t.Errorf("%d were told: %v", len(fresh), told)
	}
	if n := h.admits(t, append(fresh, kept)); n != len(fresh)+1 {
		t.Errorf("%d of %d keys work", n, len(fresh)+1)
	}
	if n := h.admits(t, lost); n != 0 {
		t.Errorf("%d lost keys work", n)
	}
}

// TestStopped states that a failing store leads to an error and never to an empty
// result.
func TestStopped(t *testing.T) {
	h := open(t)
	crowd(t, h)
	h.Keys = keys(t, second, first)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := h.Rekey(ctx); err == nil || n != 0 {
		t.Errorf("rekey: %d, %v", n, err)
	}
	if err := h.FitKeys(ctx); err == nil {
		t.Error("the keys fit")
	}
	h.Keys = keys(t, second)
	if err := h.ResetKeys(ctx, func(r identity.Renewed) error { t.Errorf("%+v was told", r); return nil }); err == nil {
		t.Error("the keys are reset")
	}
	if _, err := h.Empty(ctx); err == nil {
		t.Error("the store is empty or not")
	}
	if _, err := h.Bootstrap(ctx, identity.First{Email: "a@example.com"}); err == nil {
		t.Error("the first organisation is made")
	}
	if _, err := h.Rules(ctx, acme); err == nil {
		t.Error("there are rules or not")
	}
}
