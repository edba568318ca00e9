package crypto_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
)

// quick is for tests in which the cost does not matter.
var quick = crypto.Passwords{Iterations: 10}

func hash(t testing.TB, p crypto.Passwords, password string) string {
	t.Helper()
	h, err := p.Hash(password)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestPasswordsDefault(t *testing.T) {
	h := hash(t, crypto.Passwords{}, "correct horse")
	if !regexp.MustCompile(`^pbkdf2-sha256\$600000\$[0-9A-Za-z+/]{22}\$[0-9A-Za-z+/]{43}$`).MatchString(h) {
		t.Errorf("hash has another shape: %q", h)
	}
	if !quick.Verify(h, "correct horse") {
		t.Error("a hash with other iterations than our own does not verify")
	}
}

func TestPasswordsVerify(t *testing.T) {
	h := hash(t, quick, "correct horse")
	if h == hash(t, quick, "correct horse") {
		t.Error("two hashes of a password are the same: no salt")
	}
	for password, want := range map[string]bool{
		"correct horse": true, "Correct horse": false, "correct horse ": false, "": false,
	} {
		if got := (crypto.Passwords{}).Verify(h, password); got != want {
			t.Errorf("Verify(%q) = %v", password, got)
		}
	}
	if other := strings.Replace(h, "$10$", "$11$", 1); quick.Verify(other, "correct horse") {
		t.Error("the number of iterations does not matter")
	}
}

// known is the hash of "correct horse" that Python's hashlib.pbkdf2_hmac made.
const known = "pbkdf2-sha256$1000$AAECAwQFBgcICQoLDA0ODw$yRTMTwbMbo9G0VfjobWqerzuuxe7BETNTErBbKKumGQ"

func TestPasswordsKnown(t *testing.T) {
	if !quick.Verify(known, "correct horse") {
		t.Error("a hash made by another implementation does not verify")
	}
}

func TestPasswordsCurrent(t *testing.T) {
	if h := hash(t, quick, "correct horse"); !quick.Current(h) || (crypto.Passwords{}).Current(h) || quick.Current(known) || quick.Current("") {
		t.Error("hashes are current that are not, or the other way")
	}
}

func TestPasswordsMalformed(t *testing.T) {
	h := hash(t, quick, "")
	part := strings.Split(h, "$")
	join := func(scheme, iterations, salt, hash string) string {
		return strings.Join([]string{scheme, iterations, salt, hash}, "$")
	}
	for name, text := range map[string]string{
		"nothing":             "",
		"separators":          "$$$",
		"part missing":        strings.Join(part[:3], "$"),
		"part too many":       h + "$",
		"other scheme":        join("pbkdf2-sha1", part[1], part[2], part[3]),
		"no iterations":       join(part[0], "", part[2], part[3]),
		"zero iterations":     join(part[0], "0", part[2], part[3]),
		"negative iterations": join(part[0], "-10", part[2], part[3]),
		"endless iterations":  join(part[0], "2000000000", part[2], part[3]),
		"too large a number":  join(part[0], "99999999999999999999", part[2], part[3]),
		"signed iterations":   join(part[0], "+10", part[2], part[3]),
		"padded iterations":   join(part[0], "010", part[2], part[3]),
		"no salt":             join(part[0], part[1], "", part[3]),
		"short salt":          join(part[0], part[1], "AAAA", part[3]),
		"salt not base64":     join(part[0], part[1], "!", part[3]),
		"no hash":             join(part[0], part[1], part[2], ""),
		"short hash":          join(part[0], part[1], part[2], "AAAA"),
		"hash not base64":     join(part[0], part[1], part[2], "!"),
		"padding":             h + "=",
		"line break":          h + "\n",
	} {
		if quick.Verify(text, "") {
			t.Errorf("%s: %q verifies", name, text)
		}
	}
}

func TestPasswordsIterations(t *testing.T) {
	for _, n := range []int{-1, 6_000_001} {
		if h, err := (crypto.Passwords{Iterations: n}).Hash("x"); err == nil {
			t.Errorf("%d iterations: %q", n, h)
		}
	}
}

// FuzzVerify looks for other spellings of a hash, and for hashes that cost more
// than they may.
func FuzzVerify(f *testing.F) {
	for _, s := range []string{"", "$$$", known + "$", strings.Replace(known, "$1000$", "$+1000$", 1), "pbkdf2-sha256$10$$", "pbkdf2-sha256$9223372036854775808$AA$AA"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, hash string) {
		if got := quick.Verify(hash, "correct horse"); got != (hash == known) {
			t.Errorf("Verify(%q) = %v", hash, got)
		}
	})
}

func FuzzHash(f *testing.F) {
	f.Add("")
	f.Add("correct horse")
	f.Add(strings.Repeat("long ", 40))
	f.Fuzz(func(t *testing.T, password string) {
		if !quick.Verify(hash(t, quick, password), password) {
			t.Errorf("%q does not verify", password)
		}
	})
}
