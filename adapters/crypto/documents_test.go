package crypto_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/ports/secret"
)

func documents(t testing.TB, secrets ...string) *crypto.Documents {
	t.Helper()
	d, err := crypto.NewDocuments(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func sealed(t testing.TB, d *crypto.Documents, plain, place string) []byte {
	t.Helper()
	text, err := d.Seal(nil, []byte(plain), []byte(place))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A document opens only in the place for which it was sealed, with any configured
// secret.
func TestDocuments(t *testing.T) {
	old, both, other := documents(t, "old"), documents(t, "new", "old", "new"), documents(t, "other")
	text := sealed(t, old, `{"password":"hunter2"}`, "here")
	if bytes.Contains(text, []byte("hunter2")) || text[0] != secret.Mark || bytes.Equal(text, sealed(t, old, `{"password":"hunter2"}`, "here")) {
		t.Errorf("%q", text)
	}
	if plain, err := both.Open(nil, text, []byte("here")); err != nil || string(plain) != `{"password":"hunter2"}` {
		t.Errorf("%q, %v", plain, err)
	}
	if !old.Current(text) || both.Current(text) || !both.Current(sealed(t, both, "x", "")) || old.ID() == both.ID() {
		t.Error("which secret is current is not told")
	}
	if _, err := other.Open(nil, text, []byte("here")); !errors.Is(err, secret.ErrUnknown) {
		t.Error(err)
	}
	if _, err := old.Open(nil, text, []byte("there")); !errors.Is(err, crypto.ErrDamaged) {
		t.Error("it opens in another place:", err)
	}
	for i := range text {
		bad := bytes.Clone(text)
		bad[i] ^= 1
		if plain, err := old.Open(nil, bad, []byte("here")); err == nil {
			t.Errorf("byte %d changed, and it opens: %q", i, plain)
		}
		if plain, err := old.Open(nil, text[:i], []byte("here")); err == nil {
			t.Errorf("cut after %d, and it opens: %q", i, plain)
		}
	}
}

// Seal and Open append to dst, in place when its capacity suffices.
func TestDocumentsAppend(t *testing.T) {
	d := documents(t, "secret")
	room := append(make([]byte, 0, 1000), "before"...)
	text, err := d.Seal(room, []byte("plain"), []byte("here"))
	if err != nil || !bytes.HasPrefix(text, []byte("before!")) || &text[0] != &room[0] {
		t.Fatalf("%q, %v", text, err)
	}
	room = append(make([]byte, 0, 1000), "then "...)
	plain, err := d.Open(room, text[len("before"):], []byte("here"))
	if err != nil || string(plain) != "then plain" || &plain[0] != &room[0] {
		t.Errorf("%q, %v", plain, err)
	}
}

// Without secrets there is an error.
func TestDocumentsNeedSecrets(t *testing.T) {
	for _, secrets := range [][]string{nil, {""}, {"a", ""}} {
		if _, err := crypto.NewDocuments(secrets...); err == nil {
			t.Errorf("%q is taken", secrets)
		}
	}
}

// FuzzDocuments opens arbitrary bytes without panic.
func FuzzDocuments(f *testing.F) {
	d := documents(f, "secret")
	f.Add([]byte(""), []byte(""))
	f.Add([]byte("!\x01"), []byte("here"))
	f.Add(sealed(f, d, "{}", "here"), []byte("here"))
	f.Fuzz(func(t *testing.T, text, place []byte) {
		_, _ = d.Open(nil, text, place)
		_ = d.Current(text)
		again, err := d.Seal(nil, text, place)
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := d.Open(nil, again, place); err != nil || !bytes.Equal(plain, text) {
			t.Errorf("%q: %q, %v", text, plain, err)
		}
	})
}
