package table_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"":                       "",
		"Payments":               "payments",
		" ACME Payment API ":     "acme-payment-api",
		"a/b?c#d%e\\f":           "a-b-c-d-e-f",
		"--":                     "",
		"Über 9 000":             "über-9-000",
		"支払い":                    "支払い",
		strings.Repeat("x", 200): strings.Repeat("x", 100),
	} {
		if got := table.Slug(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// FuzzSlug: a slug is valid in an address, and the slug of a slug is the same.
func FuzzSlug(f *testing.F) {
	f.Add("ACME Payment API")
	f.Add("İstanbul – ǅ")
	f.Fuzz(func(t *testing.T, name string) {
		slug := table.Slug(name)
		if strings.ContainsAny(slug, "/?#%\\ \x00") || strings.HasPrefix(slug, "-") || strings.HasSuffix(slug, "-") || utf8.RuneCountInString(slug) > 101 {
			t.Errorf("%q: %q", name, slug)
		}
		if again := table.Slug(slug); again != slug {
			t.Errorf("%q: %q, then %q", name, slug, again)
		}
	})
}

// TestSegments: a segment is sent by browsers without further escapes.
func TestSegments(t *testing.T) {
	for text, want := range map[string]bool{
		"start": true, "über-uns": true, "a.b": true, "...": true, "": true,
		".": false, "..": false, "a/b": false, "a b": false, "a?b": false, "a#b": false, "a%2fb": false, `a\b`: false, "a\nb": false, "a\x00b": false, "a\u00a0b": false,
	} {
		if got := table.IsSegment(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
