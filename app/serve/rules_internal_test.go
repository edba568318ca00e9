package serve

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/app/config"
)

// TestFirstRules states that bootstrap gives the first organisation the default rules
// as its own, if its admins can change them and there is no rules file.
func TestFirstRules(t *testing.T) {
	s := config.Settings{HomeDir: t.TempDir()}
	if First(s).Rules != "" {
		t.Error("rules that cannot be changed")
	}
	s.Security.OpenPolicy.API = true
	if First(s).Rules != opa.DefaultRules() {
		t.Error("not the default rules")
	}
	if err := os.MkdirAll(filepath.Join(s.HomeDir, "schemas"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.HomeDir, "schemas", "dashboard.rego"), []byte(opa.DefaultRules()), 0o600); err != nil {
		t.Fatal(err)
	}
	if First(s).Rules != "" {
		t.Error("the file means nothing")
	}
}
