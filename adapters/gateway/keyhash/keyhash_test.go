package keyhash_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/twmb/murmur3"

	"github.com/gatehouse-io/gatehouse/adapters/gateway/keyhash"
)

const made = "eyJvcmciOiJvMSIsImlkIjoiNWIzMGU3MDMwMjk3NDliOWJhZDIzZDljNTNiYWY2ZTgiLCJoIjoibXVybXVyNjQifQ=="

func TestOf(t *testing.T) {
	for key, want := range map[string]string{
		made: "1de461e9ee0777bf", // the hash that a gateway computed
		"":   "00000000", "hello": "248bfa47", "hello, world": "149bbb7f",
		keyhash.Make("o1", "x", keyhash.SHA256): fmt.Sprintf("%x", sha256.Sum256([]byte(`eyJvcmciOiJvMSIsImlkIjoieCIsImgiOiJzaGEyNTYifQ==`))),
	} {
		if got := keyhash.Of(key); got != want {
			t.Errorf("%q: %s, want %s", key, got, want)
		}
	}
	if got := keyhash.Make("o1", "5b30e703029749b9bad23d9c53baf6e8", keyhash.Murmur64); got != made {
		t.Error(got)
	}
}

func TestForms(t *testing.T) {
	for _, key := range keyhash.Forms("o1", "abc") {
		p, ok := keyhash.Parse(key)
		if newer := key != "o1abc"; newer != ok || ok && (p.Org != "o1" || p.ID != "abc") {
			t.Errorf("%s: %+v, %t", key, p, ok)
		}
	}
	if keyhash.Make("o1", "o1abc", "") != "o1abc" || keyhash.Make("o1", "o1abc", keyhash.Murmur64) != keyhash.Make("o1", "abc", keyhash.Murmur64) {
		t.Error("an identifier that begins with the organisation is another one")
	}
}

// TestAgainstAnother compares the functions with another implementation.
func TestAgainstAnother(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same every time
	for n := range 200 {
		for _, function := range []string{"", keyhash.Murmur32, keyhash.Murmur64, keyhash.Murmur128} {
			id := make([]byte, n)
			for i := range id {
				id[i] = byte('a' + r.IntN(26))
			}
			key := keyhash.Make("org", string(id)+"x", function)
			a, b := murmur3.StringSum128(key)
			want := map[string]string{keyhash.Murmur64: fmt.Sprintf("%016x", a), keyhash.Murmur128: fmt.Sprintf("%016x%016x", a, b)}[function]
			if want == "" {
				want = fmt.Sprintf("%08x", murmur3.StringSum32(key))
			}
			if got := keyhash.Of(key); got != want {
				t.Fatalf("%q by %q: %s, want %s", key, function, got, want)
			}
		}
	}
}

// FuzzOf hashes arbitrary texts: a hash has one of four lengths.
func FuzzOf(f *testing.F) {
	f.Add(made)
	f.Add("eyJoIjoic2hhMjU2In0=")
	f.Fuzz(func(t *testing.T, key string) {
		switch len(keyhash.Of(key)) {
		case 8, 16, 32, 64:
		default:
			t.Error(keyhash.Of(key))
		}
	})
}
