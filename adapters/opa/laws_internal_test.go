package opa

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

func value(t *testing.T, text string) (ast.Value, bool) {
	t.Helper()
	if !json.Valid([]byte(text)) {
		return nil, false
	}
	v, err := ast.ValueFromReader(strings.NewReader(text))
	return v, err == nil
}

func merged(t *testing.T, target string, patch ast.Value) ast.Value {
	t.Helper()
	p, err := marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	out, err := doc.Merge([]byte(target), p)
	if err != nil {
		t.Fatal(err)
	}
	v, ok := value(t, string(out))
	if !ok {
		t.Fatalf("%s is not JSON", out)
	}
	return v
}

// Applying a difference gives the other value, unless that contains null, which a merge
// patch cannot set.
func FuzzDiff(f *testing.F) {
	f.Add(`{"a":{"b":1,"c":[1]},"d":1}`, `{"a":{"b":2},"e":{"f":{}}}`)
	f.Add(`{}`, `[]`)
	f.Fuzz(func(t *testing.T, from, to string) {
		a, ok := value(t, from)
		b, both := value(t, to)
		if !ok || !both || strings.Contains(to, "null") {
			return
		}
		if got := merged(t, from, diff(a, b)); got.Compare(b) != 0 {
			t.Errorf("%s -> %s by %v gives %v", from, to, diff(a, b), got)
		}
	})
}

// Two patches composed have the effect of the two in sequence.
func FuzzCompose(f *testing.F) {
	f.Add(`{"a":1}`, `{"a":{"b":1,"c":null}}`, `{"a":{"b":null,"d":1}}`)
	f.Add(`{"a":{"x":1}}`, `{"a":5}`, `{"a":{"b":1}}`)
	f.Fuzz(func(t *testing.T, target, first, second string) {
		p, _ := value(t, first)
		q, _ := value(t, second)
		a, isObject := p.(ast.Object)
		b, both := q.(ast.Object)
		if !isObject || !both || !json.Valid([]byte(target)) {
			return
		}
		sum, err := compose(a, b)
		if err != nil {
			return
		}
		stepwise := merged(t, merged(t, target, a).String(), b)
		if got := merged(t, target, sum); got.Compare(stepwise) != 0 {
			t.Errorf("%s + %s + %s = %v, in one %v", target, first, second, stepwise, got)
		}
	})
}

func TestCacheKeepsWhatIsUsed(t *testing.T) {
	made := map[string]int{}
	c := ruleCache{compile: func(text string, _ tenant.ID) (*ruleSet, error) {
		made[text]++
		return &ruleSet{}, nil
	}}
	for i := range 3 * cacheSize {
		for _, text := range []string{"often", fmt.Sprint(i)} {
			if _, err := c.entry(text, "org").get(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := c.entry("0", "org").get(); err != nil {
		t.Fatal(err)
	}
	if made["often"] != 1 || made["0"] != 2 || len(c.byText) != cacheSize || c.byUsage.Len() != cacheSize {
		t.Errorf("often %d times, 0 %d times, %d kept", made["often"], made["0"], len(c.byText))
	}
}
