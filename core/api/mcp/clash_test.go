package mcp_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/mcp"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// TestSuspect: a view that is not suspect does not clash. Views that only describe tools of
// the source are not suspect, so they need not be derived.
func TestSuspect(t *testing.T) {
	rest, _ := described(4)
	source, err := mcp.SourceOf(rest)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	view := func() *doc.Node {
		primitives := doc.NewArray()
		for i := range 5 { // the last one is not in the source
			if r.IntN(3) == 0 {
				continue
			}
			p := doc.NewObject()
			if r.IntN(2) == 0 {
				p.Put(doc.NewString(fmt.Sprintf("o%d", i)), "source", "operationId")
			} else {
				p.Put(doc.NewString("get"), "source", "method")
				p.Put(doc.NewString(fmt.Sprintf("/p%d", i)), "source", "path")
			}
			if r.IntN(3) == 0 {
				p.Set("name", doc.NewString([]string{"o0", "o1", "o2", "x", "y"}[r.IntN(5)]))
			}
			if r.IntN(4) == 0 {
				p.Set("allow", doc.NewBool(r.IntN(3) > 0))
			}
			primitives.Append(p)
		}
		out := doc.NewObject()
		out.Set("primitives", primitives)
		return out
	}
	clashes, suspects := 0, 0
	for range 20_000 {
		a, b := view(), view()
		mine, err := source.Derive(a, false)
		if err != nil {
			continue
		}
		suspect := source.Suspect(mine.Tools)(b)
		theirs, err := source.Derive(b, false)
		if err != nil {
			continue
		}
		_, clash := mcp.Clash(mine.Tools, theirs.Tools)
		if clash && !suspect {
			t.Fatalf("%s clashes with %s", a.JSON(), b.JSON())
		}
		if clash {
			clashes++
		}
		if suspect {
			suspects++
		}
	}
	if clashes < 1000 || suspects > clashes {
		t.Errorf("%d clashes, %d suspects", clashes, suspects)
	}
	plain, err := source.Derive(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	_, described := described(4)
	for _, other := range []*doc.Node{nil, described} {
		if source.Suspect(plain.Tools)(other) {
			t.Errorf("%s is suspect", other.JSON())
		}
	}
}
