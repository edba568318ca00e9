package argon2_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/argon2"
	"github.com/gatehouse-io/gatehouse/adapters/crypto"
)

// Hashes of "correct horse" that the reference implementation and another scheme made.
const (
	known = "$argon2id$v=19$m=64,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$nIfAaJi8GFFmabVKi5XTbmIpRklNelXCbzkaBAYGjBk"
	older = "pbkdf2-sha256$1000$AAECAwQFBgcICQoLDA0ODw$yRTMTwbMbo9G0VfjobWqerzuuxe7BETNTErBbKKumGQ"
)

func TestHash(t *testing.T) {
	p := argon2.New(nil)
	one, err := p.Hash("correct horse")
	if err != nil || !regexp.MustCompile(`^\$argon2id\$v=19\$m=19456,t=2,p=1\$[0-9A-Za-z+/]{22}\$[0-9A-Za-z+/]{43}$`).MatchString(one) {
		t.Errorf("%q %v", one, err)
	}
	if two, _ := p.Hash("correct horse"); one == two {
		t.Error("two hashes of a password are the same: no salt")
	}
	for password, want := range map[string]bool{"correct horse": true, "Correct horse": false, "": false} {
		if p.Verify(one, password) != want {
			t.Error(password)
		}
	}
	if !p.Current(one) || p.Current(known) || p.Current(older) || p.Current("") {
		t.Error("hashes are current that are not, or the other way")
	}
}

// A hash of another implementation, with other parameters, verifies.
func TestKnown(t *testing.T) {
	if p := argon2.New(nil); !p.Verify(known, "correct horse") || p.Verify(known, "correct house") {
		t.Error("a hash made by another implementation does not verify")
	}
}

// Hashes of the older scheme are verified, but are not current.
func TestOlder(t *testing.T) {
	p := argon2.New(crypto.Passwords{})
	if !p.Verify(older, "correct horse") || p.Verify(older, "correct house") {
		t.Error("an older hash does not verify")
	}
	if argon2.New(nil).Verify(older, "correct horse") {
		t.Error("there is no older scheme")
	}
}

func TestMalformed(t *testing.T) {
	p := argon2.New(crypto.Passwords{})
	for name, from := range map[string][2]string{
		"another variant":      {"argon2id", "argon2i"},
		"another version":      {"v=19", "v=16"},
		"no version":           {"v=19", ""},
		"too much memory":      {"m=64", "m=65537"},
		"too little memory":    {"m=64", "m=7"},
		"endless":              {"t=2", "t=11"},
		"no pass":              {"t=2", "t=0"},
		"too many threads":     {"p=1", "p=5"},
		"no thread":            {"p=1", "p=0"},
		"a signed number":      {"t=2", "t=+2"},
		"a padded number":      {"t=2", "t=02"},
		"more parameters":      {"p=1", "p=1,x=1"},
		"a number that wraps":  {"p=1", "p=257"},
		"a salt that is short": {"AAECAwQFBgcICQoLDA0ODw", "AAEC"},
		"another part":         {"$m=64", "$$m=64"},
		"other bits at an end": {"ODw$", "ODx$"},
	} {
		text := strings.Replace(known, from[0], from[1], 1)
		if text == known || p.Verify(text, "correct horse") {
			t.Error(name, text)
		}
	}
	for _, text := range []string{"", "$", "$$$$$", known + "$", known + "=", known + "\n", known[1:]} {
		if p.Verify(text, "correct horse") {
			t.Errorf("%q", text)
		}
	}
}

// FuzzVerify looks for other spellings of a hash, and for hashes that cost more than
// they may.
func FuzzVerify(f *testing.F) {
	p := argon2.New(nil)
	for _, s := range []string{"", known, strings.Replace(known, "m=64", "m=4294967295", 1), strings.Replace(known, "t=2", "t=9", 1)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, hash string) {
		if p.Verify(hash, "correct horse") != (hash == known) {
			t.Errorf("%q", hash)
		}
	})
}

// BenchmarkVerify measures the time to verify a password, also with many callers at
// once.
func BenchmarkVerify(b *testing.B) {
	p := argon2.New(nil)
	h, _ := p.Hash("correct horse")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p.Verify(h, "correct horse")
		}
	})
}
