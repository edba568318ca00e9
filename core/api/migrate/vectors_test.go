package migrate_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/openapi"
	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/api/migrate"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// TestVectors compares migrations with recorded ones.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../testdata/vectors/migrate.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range doctest.Node(t, string(text)).Items() {
		t.Run(v.Get("name").Text(), func(t *testing.T) {
			r, problems := migrated(v.Get("input"))
			want := v.Get("output")
			if v.Get("name").Text() == "mig-single-empty-name" { // gateways refuse it; Convert names the version
				if name := r.Base.OAS.Get("info", "version").Text(); len(problems) > 0 || name != "Default" {
					t.Fatalf("version %q: %v", name, problems)
				}
				return
			}
			if refused := want.Get("error") != nil; refused || len(problems) > 0 {
				if refused != (len(problems) > 0) {
					t.Fatalf("%s: %v", v.Get("about").Text(), problems)
				}
				return
			}
			matches(t, r.Base, want.Get("base"))
			if len(r.Versions) != want.Get("versions").Len() {
				t.Fatalf("%d versions, want %d", len(r.Versions), want.Get("versions").Len())
			}
			for i, w := range want.Get("versions").Items() {
				matches(t, r.Versions[i], w)
			}
		})
	}
}

// validator is shared, because it compiles its schemas once.
var validator = openapi.New()

// migrated converts a definition and returns why gateways would not accept it: it cannot be
// decoded, is refused, or becomes an invalid document.
func migrated(def *doc.Node) (r migrate.Result, problems []string) {
	for _, p := range classic.Check(def) {
		problems = append(problems, p.String())
	}
	r, err := migrate.Convert(def, numbered())
	if err != nil {
		return r, append(problems, err.Error())
	}
	for _, v := range append([]migrate.Version{r.Base}, r.Versions...) {
		for _, p := range validator.Validate(v.OAS, port.Options{}) {
			problems = append(problems, p.String())
		}
	}
	return r, problems
}

func numbered() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("<generated-id-%d>", n)
	}
}

func matches(t *testing.T, got migrate.Version, want *doc.Node) {
	t.Helper()
	if got.Name != want.Get("version_name").Text() || got.BaseID != want.Get("base_id").Text() {
		t.Errorf("version %q of %q, want %q of %q", got.Name, got.BaseID, want.Get("version_name").Text(), want.Get("base_id").Text())
	}
	if sparse := pruned(got.Classic); !sparse.Equal(pruned(want.Get("classic"))) {
		t.Errorf("classic\n got %s\nwant %s", sparse.JSON(), want.Get("classic").JSON())
	}
	if !got.OAS.Equal(want.Get("oas")) {
		t.Errorf("oas\n got %s\nwant %s", got.OAS.JSON(), want.Get("oas").JSON())
	}
}

// pruned returns a copy without empty members; items of arrays stay.
func pruned(n *doc.Node) *doc.Node {
	out := doc.NewObject()
	switch n.Type() {
	case doc.TypeArray:
		out = doc.NewArray()
		for _, v := range n.Items() {
			out.Append(pruned(v))
		}
		return out
	case doc.TypeObject:
		for name, v := range n.Members() {
			if v = pruned(v); !says(v) {
				continue
			}
			out.Set(name, v)
		}
		return out
	}
	return n
}

func says(n *doc.Node) bool {
	return n.Len() > 0 || n.Text() != "" || n.True() || n.Float() != 0
}
