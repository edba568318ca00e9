package migrate_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/migrate"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

var update = flag.Bool("update", false, "write the golden files")

// TestUpgrade reads pairs of files: x.before.json has a document and its classic form,
// x.after.json the upgraded ones and the notes.
func TestUpgrade(t *testing.T) {
	files, _ := filepath.Glob("testdata/upgrade/*.before.json")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".before.json"), func(t *testing.T) {
			before, after := load(t, file), load(t, file)
			changed, notes := migrate.Upgrade(after.Get("document"), after.Get("classic"))
			if changed != (len(notes) > 0) || changed == identical(before, after) {
				t.Errorf("changed is %v, notes are %q", changed, notes)
			}
			keeps(t, "", before, after)
			again := after.Clone()
			if changed, notes := migrate.Upgrade(again.Get("document"), again.Get("classic")); changed || !identical(again, after) {
				t.Errorf("a second run changes: %q", notes)
			}
			after.Set("notes", doc.NewStrings(notes))
			golden(t, strings.Replace(file, ".before.", ".after.", 1), after, identical)
		})
	}
}

// TestUpgradeLeavesTheClassicFormAlone: the form that gateways execute stays the same, except
// for the list of key sets.
func TestUpgradeLeavesTheClassicFormAlone(t *testing.T) {
	files, _ := filepath.Glob("testdata/upgrade/*.before.json")
	for _, file := range files {
		before, after := load(t, file).Get("document"), load(t, file).Get("document")
		migrate.Upgrade(after, nil)
		was, is := oas.Extract(before, nil, oas.Options{}), oas.Extract(after, nil, oas.Options{})
		for _, c := range []*doc.Node{was, is} {
			c.Delete("jwt_jwks_uris")
		}
		if !was.Equal(is) {
			t.Errorf("%s: %s became %s", file, was.JSON(), is.JSON())
		}
	}
}

// keeps tests that all of before is in after, unmoved and with the same spelling: after may
// only have more members.
func keeps(t *testing.T, path string, before, after *doc.Node) {
	t.Helper()
	if !before.Is(doc.TypeObject) {
		if !identical(before, after) && before.Len() > 0 {
			t.Errorf("%s: %s became %s", path, before.JSON(), after.JSON())
		}
		return
	}
	var still []string
	for _, name := range after.Names() {
		if before.Get(name) != nil {
			still = append(still, name)
		}
	}
	if !slices.Equal(still, before.Names()) {
		t.Errorf("%s: members %q became %q", path, before.Names(), after.Names())
	}
	for name, v := range before.Members() {
		keeps(t, path+"/"+name, v, after.Get(name))
	}
}

func TestUpgradePolicy(t *testing.T) {
	for before, after := range map[string]string{
		`{"_id":"5f00","name":"p","rate":1.50}`: `{"_id":"5f00","name":"p","rate":1.50,"id":"5f00"}`,
		`{"id":"","_id":"5f00"}`:                `{"id":"5f00","_id":"5f00"}`,
		`{"id":"own","_id":"5f00"}`:             `{"id":"own","_id":"5f00"}`,
		`{"name":"neither"}`:                    `{"name":"neither"}`,
	} {
		p := doctest.Node(t, before)
		changed := migrate.UpgradePolicy(p)
		if got := string(p.JSON()); got != after || changed != (before != after) {
			t.Errorf("%s became %s (%v), want %s", before, got, changed, after)
		}
		if migrate.UpgradePolicy(p) {
			t.Errorf("%s: a second run changes", before)
		}
	}
}

func FuzzUpgrade(f *testing.F) {
	files, _ := filepath.Glob("testdata/upgrade/*.before.json")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, err := doc.ParseNode([]byte(text))
		if err != nil || !before.Is(doc.TypeObject) {
			return
		}
		after := before.Clone()
		migrate.Upgrade(after.Get("document"), after.Get("classic"))
		once := after.JSON()
		if changed, notes := migrate.Upgrade(after.Get("document"), after.Get("classic")); changed || !bytes.Equal(once, after.JSON()) {
			t.Errorf("a second run changes: %q", notes)
		}
	})
}

// identical reports whether a and b are equal, including member order and the spelling of
// numbers.
func identical(a, b *doc.Node) bool { return bytes.Equal(a.JSON(), b.JSON()) }

func load(t testing.TB, file string) *doc.Node {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return doctest.Node(t, string(text))
}

// golden compares got with a file.
func golden(t *testing.T, file string, got *doc.Node, same func(want, got *doc.Node) bool) {
	t.Helper()
	if *update {
		var b bytes.Buffer
		if err := json.Indent(&b, got.JSON(), "", "  "); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := load(t, file); !same(want, got) {
		t.Errorf("got  %s\nwant %s", got.JSON(), want.JSON())
	}
}
