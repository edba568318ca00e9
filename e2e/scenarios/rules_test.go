package scenarios

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRules runs a service with rules from a file, and changes the file.
func TestRules(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "schemas", "dashboard.rego")
	if err := os.Mkdir(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	store := func(rules string) {
		t.Helper()
		if err := os.WriteFile(file+".new", []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	deny := func(method string) string {
		return fmt.Sprintf("package dashboard_users\n\ndeny[\"%s is switched off\"] { input.request.method == \"%s\" }\n", method, method)
	}
	store(deny("PUT"))
	s := serve(t, onSQLite(home).bootstrapping().with(environment{"SECURITY_OPENPOLICY_ENABLED": "true"}))
	ctx := t.Context()
	if err := s.api.createIDP(ctx, idp{ClientIDPID: "a", Name: "A", JWKSURI: "https://a.example.com/jwks.json"}); err != nil {
		t.Fatal(err)
	}
	put := func() error {
		_, err := s.api.putMapping(ctx, "a", ordersAPI, mapping{map[string]string{"read": "p"}})
		return err
	}
	patch := func() error {
		_, err := s.api.patchMappings(ctx, "a", scopes(ordersAPI, map[string]any{"read": "p"}))
		return err
	}
	denied := func(err error, method string) error {
		if statusOf(err) != http.StatusForbidden || !strings.Contains(err.Error(), "access denied: "+method+" is switched off") {
			return fmt.Errorf("answer %w, want 403 with the reason", err)
		}
		return nil
	}
	if err := errors.Join(denied(put(), "PUT"), patch()); err != nil {
		t.Error(err)
	}
	const limit = 30 * time.Second
	store(deny("PATCH"))
	took := until(t, limit, "the changed rules", put)
	t.Logf("a changed file was in effect after %v", took.Round(time.Millisecond))
	if err := denied(patch(), "PATCH"); err != nil {
		t.Error(err)
	}
	store("package dashboard_users\n\ndeny[") // an invalid file: the previous rules stay in force
	until(t, limit, "the mistake is noticed", func() error {
		if !strings.Contains(s.process.Logs(), "cannot be used") {
			return errors.New("nothing about it is logged")
		}
		return nil
	})
	if err := errors.Join(denied(patch(), "PATCH"), put()); err != nil {
		t.Error(err)
	}
	store(deny("PUT"))
	until(t, limit, "the first rules again", func() error { return errors.Join(denied(put(), "PUT"), patch()) })
}
