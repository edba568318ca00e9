package oas_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
)

// TestTable compares our table with the contract's, line by line.
func TestTable(t *testing.T) {
	ours := map[string]oas.Row{}
	for _, r := range oas.Table() {
		if _, twice := ours[r.Ext]; twice {
			t.Errorf("%s is there twice", r.Ext)
		}
		ours[r.Ext] = r
	}
	dir := os.Getenv("GATEHOUSE_CONTRACT_DIR")
	if dir == "" {
		t.Skip("GATEHOUSE_CONTRACT_DIR is not set: the comparison with the published table is left out, see docs/wire/README.md#published-files")
	}
	text, err := os.ReadFile(filepath.Join(dir, "data", "oas-mapping.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines[1:] {
		ext, kind := l[0], l[1]
		if strings.HasPrefix(ext, "<x-tyk-") {
			continue // other extensions, which are not converted
		}
		if kind == "[[string]]" {
			kind = "[any]"
		}
		want := oas.Row{Ext: ext, Type: kind, Classic: l[3], Rule: l[4], Always: l[2] == "always"}
		if got := ours[ext]; got != want {
			t.Errorf("%s: want %+v, got %+v", ext, want, got)
		}
		delete(ours, ext)
	}
	for ext := range ours {
		t.Errorf("%s is not in the contract", ext)
	}
}
