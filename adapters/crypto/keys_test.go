package crypto_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
)

const (
	oldSecret = "the secret of last year"
	newSecret = "the secret of this year"
)

func newKeys(t testing.TB, secrets ...string) *crypto.Keys {
	t.Helper()
	k, err := crypto.NewKeys(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func seal(t testing.TB, k *crypto.Keys, plain string) string {
	t.Helper()
	sealed, err := k.Seal(plain)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestNewKeysRefuses(t *testing.T) {
	for name, secrets := range map[string][]string{
		"nothing":          nil,
		"an empty secret":  {""},
		"an empty old one": {newSecret, ""},
	} {
		_, err := crypto.NewKeys(secrets...)
		if err == nil {
			t.Errorf("%s: accepted", name)
		} else if strings.Contains(err.Error(), newSecret) {
			t.Errorf("%s: the error holds a secret: %v", name, err)
		}
	}
}

func TestNewKey(t *testing.T) {
	k := newKeys(t, newSecret)
	one, two := k.NewKey(), k.NewKey()
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(one) {
		t.Errorf("key %q is not 32 lower-case hex digits", one)
	}
	if one == two {
		t.Error("two keys are the same")
	}
}

func TestDigests(t *testing.T) {
	before, after := newKeys(t, oldSecret), newKeys(t, newSecret, oldSecret, newSecret)
	got := after.Digests("token")
	if len(got) != 2 {
		t.Fatalf("%d digests, want one per distinct secret", len(got))
	}
	if got[1] != before.Digests("token")[0] {
		t.Error("what was stored under the old secret is not found after rotation")
	}
	if got[0] != newKeys(t, newSecret).Digests("token")[0] {
		t.Error("the current digest depends on older secrets")
	}
	if got[0] == after.Digests("Token")[0] {
		t.Error("two tokens have the same digest")
	}
	if strings.Contains(strings.Join(got, ""), "token") {
		t.Error("a digest holds the token")
	}
}

// TestStored pins the key derivation: every later version must find and open what
// stores contain today.
func TestStored(t *testing.T) {
	k := newKeys(t, "0123456789abcdef")
	const digest = "33230eae.o1Ft0ffq9VmI5U5ji9QgLALinbDQyFlBtbI0-OifWL4"
	if got := k.Digests("e4d909c290d0fb1ca068ffaddf22cbd0")[0]; got != digest {
		t.Errorf("digest %q, want %q", got, digest)
	}
	const sealed = "v1.33230eae.iKCk9NvdUUhhATBfg1ItyXaruWQ8RnfBpLKyH4XRZ0VQZURU8f1ht5FDp3sRojn9VOWs9LMaVtLQ902F"
	if plain, current, err := k.Open(sealed); plain != "e4d909c290d0fb1ca068ffaddf22cbd0" || !current || err != nil {
		t.Errorf("Open: %q, %v, %v", plain, current, err)
	}
}

func TestSealOpen(t *testing.T) {
	k := newKeys(t, newSecret)
	one, two := seal(t, k, "plain"), seal(t, k, "plain")
	if one == two {
		t.Error("sealing twice gives the same text")
	}
	if !regexp.MustCompile(`^v1\.[0-9a-f]{8}\.[0-9A-Za-z_-]+$`).MatchString(one) {
		t.Errorf("sealed text has another shape: %q", one)
	}
	for _, sealed := range []string{one, two} {
		if plain, current, err := k.Open(sealed); plain != "plain" || !current || err != nil {
			t.Errorf("Open: %q, %v, %v", plain, current, err)
		}
	}
}

func TestRotation(t *testing.T) {
	before, after := newKeys(t, oldSecret), newKeys(t, newSecret, oldSecret)
	plain, current, err := after.Open(seal(t, before, "plain"))
	if plain != "plain" || current || err != nil {
		t.Errorf("sealed with the older secret: %q, %v, %v", plain, current, err)
	}
	if _, _, err := before.Open(seal(t, after, "plain")); !errors.Is(err, crypto.ErrUnknownSecret) {
		t.Errorf("sealed with a secret we do not have: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	k := newKeys(t, newSecret, oldSecret)
	sealed := seal(t, k, "plain text")
	old := seal(t, newKeys(t, oldSecret), "plain text")
	id, oldID := strings.Split(sealed, ".")[1], strings.Split(old, ".")[1]
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"nothing":         {"", crypto.ErrDamaged},
		"plain text":      {"plain text", crypto.ErrDamaged},
		"no box":          {"v1." + id, crypto.ErrDamaged},
		"empty box":       {"v1." + id + ".", crypto.ErrDamaged},
		"short box":       {"v1." + id + ".AAAA", crypto.ErrDamaged},
		"not base64":      {"v1." + id + ".!", crypto.ErrDamaged},
		"other version":   {"v2" + sealed[2:], crypto.ErrDamaged},
		"cut":             {sealed[:len(sealed)-2], crypto.ErrDamaged},
		"longer":          {sealed + "AA", crypto.ErrDamaged},
		"line break":      {sealed + "\n", crypto.ErrDamaged},
		"moved to a ring": {strings.Replace(sealed, id, oldID, 1), crypto.ErrDamaged},
		"unknown id":      {strings.Replace(sealed, id, "00000000", 1), crypto.ErrUnknownSecret},
	} {
		plain, current, err := k.Open(c.text)
		if plain != "" || current || !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v, %v; want %v", name, plain, current, err, c.want)
		}
	}
}

func TestOpenNoticesEveryChange(t *testing.T) {
	k := newKeys(t, newSecret)
	sealed := seal(t, k, "plain text")
	for i := range sealed {
		changed := []byte(sealed)
		changed[i] ^= 1
		if plain, _, err := k.Open(string(changed)); err == nil || plain != "" {
			t.Errorf("byte %d changed: %q opened", i, plain)
		}
	}
}

func TestEphemeral(t *testing.T) {
	one, err := crypto.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	two, err := crypto.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	sealed := seal(t, one, "plain")
	if plain, _, err := one.Open(sealed); plain != "plain" || err != nil {
		t.Errorf("Open: %q, %v", plain, err)
	}
	if _, _, err := two.Open(sealed); !errors.Is(err, crypto.ErrUnknownSecret) {
		t.Errorf("two ephemeral keys share a secret: %v", err)
	}
}

func FuzzSealOpen(f *testing.F) {
	f.Add("", "x")
	f.Add("e4d909c290d0fb1ca068ffaddf22cbd0", newSecret)
	f.Add("\x00\xff.$", "\x00")
	f.Fuzz(func(t *testing.T, plain, secret string) {
		if secret == "" {
			secret = newSecret
		}
		k := newKeys(t, secret)
		if got, current, err := k.Open(seal(t, k, plain)); got != plain || !current || err != nil {
			t.Errorf("%q came back as %q, %v, %v", plain, got, current, err)
		}
	})
}

// FuzzOpen looks for forgeries. No seed is close to a genuine text, because a mutation
// could complete it.
func FuzzOpen(f *testing.F) {
	k := newKeys(f, newSecret)
	id, _, _ := strings.Cut(k.Digests("")[0], ".")
	for _, box := range []string{"", "AAAA", "!", strings.Repeat("A", 64), strings.Repeat("-", 80), "\n"} {
		f.Add("v1." + id + "." + box)
	}
	f.Add("")
	f.Add("v1..")
	f.Fuzz(func(t *testing.T, sealed string) {
		if plain, current, err := k.Open(sealed); err == nil || plain != "" || current {
			t.Errorf("%q opened as %q", sealed, plain)
		}
	})
}

func BenchmarkDigests(b *testing.B) {
	k := newKeys(b, newSecret)
	b.ReportAllocs()
	for b.Loop() {
		k.Digests("e4d909c290d0fb1ca068ffaddf22cbd0")
	}
}

func BenchmarkOpen(b *testing.B) {
	k := newKeys(b, newSecret)
	sealed := seal(b, k, "e4d909c290d0fb1ca068ffaddf22cbd0")
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := k.Open(sealed); err != nil {
			b.Fatal(err)
		}
	}
}
