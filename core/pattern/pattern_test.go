package pattern_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/pattern"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

// FuzzCheck compares Check with the compiler of the standard library.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		"", "a", "(a)(b)", "(?:a)", "(?P<n>a)", "a{1000}", "a{1001}", "(", "[", `\p{Greek}`, `\p{None}`, "(?i)[a-z]", "(?=a)", `\1`,
		strings.Repeat("(", 1001) + strings.Repeat(")", 1001), "(a{1000}){2}", `(?i)[B-\x{1e942}]`, "\xff", `\x`, `(?i)[a-\x{110000}]`, `(?i)[a-\x`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		groups, found := pattern.Check(text)
		if n, err := pattern.Size(text); errors.Is(found, pattern.ErrLarge) || err == nil && n > 20_000 {
			return // compiling would take long
		}
		re, err := regexp.Compile(text)
		if (err == nil) != (found == nil) {
			t.Errorf("%v, the compiler says %v", found, err)
		}
		if err == nil && groups != re.NumSubexp() {
			t.Errorf("%d groups, not %d", groups, re.NumSubexp())
		}
	})
}

// TestCost: expressions that take long to parse are refused, and usual ones are not.
func TestCost(t *testing.T) {
	for _, text := range []string{strings.Repeat(`\pL`, 10_000), "(?i)" + strings.Repeat(`[B-\x{1e942}]`, 100), "(?i)" + strings.Repeat("[B-\U0001e942]", 100)} {
		if _, err := pattern.Check(text); !errors.Is(err, pattern.ErrLarge) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	for _, text := range []string{strings.Repeat("a{1000}", 10_000), strings.Repeat("[a-z]|", 10_000), "(?i)" + strings.Repeat("[à-ý]", 1_000), strings.Repeat(`\pL`, 1_000)} {
		if cost := pattern.Cost(text); cost > pattern.MaxCost {
			t.Errorf("%.40q costs %d", text, cost)
		}
	}
}

// TestSize: repetitions count as often as the compiler expands them.
func TestSize(t *testing.T) {
	for text, least := range map[string]int{"abc": 3, "a{1000}": 1_000, "a{1000,}": 1_000, strings.Repeat("a{1000}", 1_000): 1_000_000, "(?:a{10}b{10}){10}": 200} {
		if n, err := pattern.Size(text); err != nil || n < least || n > 3*least {
			t.Errorf("%.40q: %d, %v", text, n, err)
		}
	}
	if _, err := pattern.Size("("); err == nil {
		t.Error("no error")
	}
	if _, err := pattern.Size(strings.Repeat(`\pL`, 10_000)); !errors.Is(err, pattern.ErrLarge) {
		t.Error(err)
	}
}

// TestRepetitions: repetitions are not expanded.
func TestRepetitions(t *testing.T) {
	var least float64
	for _, repeated := range []string{"a{1}", "a{1000}"} {
		text := strings.Repeat(repeated, 1_000)
		bytes := testing.Benchmark(func(b *testing.B) {
			for range b.N {
				if _, err := pattern.Check(text); err != nil {
					b.Fatal(err)
				}
			}
		}).AllocedBytesPerOp()
		if least == 0 {
			least = float64(bytes)
		} else if float64(bytes) > 10*least {
			t.Errorf("%s takes %d bytes, and without repetitions %.0f", repeated, bytes, least)
		}
	}
	// The parser needs about three million steps.
	growth.Linear(t, 1_000, func(n int) func() {
		text := strings.Repeat("a{100}", n)
		return func() {
			if _, err := pattern.Check(text); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzCost: Cost works for any text.
func FuzzCost(f *testing.F) {
	for _, s := range []string{"", `(?i)a-\x`, `(?i)a-\x{`, `(?i)a-\x{41}`, "(?i)-\xff", `\p`, `(?i)-\x4`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if pattern.Cost(text) < 0 {
			t.Error(text)
		}
	})
}
