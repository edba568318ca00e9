package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// TestPortalJournal states to which file the actions of admins are written, and when to
// none.
func TestPortalJournal(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		path, want string
		purpose    Purpose
	}{{dir, "portal.log", Purpose{}}, {filepath.Join(dir, "actions.log"), "actions.log", Purpose{}}, {filepath.Join(dir, "beside.log"), "", Purpose{Beside: true}}} {
		composed := &Composition{}
		file, err := composed.journal(portalSettings(t, config.PortalOwn, "PORTAL_AUDIT_LOG_ENABLE=true", "PORTAL_AUDIT_LOG_PATH="+c.path), c.purpose)
		if err != nil || (file == nil) != (c.want == "") {
			t.Fatal(file, err)
		}
		if file == nil {
			continue
		}
		if _, err := file.Append([]byte("{}\n")); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, c.want)); err != nil || string(text) != "{}\n" {
			t.Errorf("%s: %q %v", c.want, text, err)
		}
		if err := composed.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := (&Composition{}).journal(portalSettings(t, config.PortalOwn, "PORTAL_AUDIT_LOG_ENABLE=true", "PORTAL_AUDIT_LOG_PATH="+filepath.Join(dir, "none", "x.log")), Purpose{}); err == nil || !strings.HasPrefix(err.Error(), "AuditLog.Path: ") {
		t.Error(err)
	}
	if file, err := (&Composition{}).journal(portalSettings(t, config.PortalOwn), Purpose{}); file != nil || err != nil {
		t.Error(file, err)
	}
}
