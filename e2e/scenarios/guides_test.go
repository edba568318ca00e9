package scenarios

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apptest"
)

// The secrets that `make run` gives the service unless told otherwise.
const (
	guideAdminSecret = "admin-secret"
	guideNodeSecret  = "node-secret"
)

// TestGuides does what the README and the guides say, word for word: every block
// marked sh runs in bash against a service of its own. A line "# → text" in a
// block says what the commands since the last such line print; … in it stands for
// anything.
func TestGuides(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the guides are not tested: they need curl, and there is none")
	}
	guides, err := filepath.Glob("../../docs/guide-*.md")
	if err != nil || len(guides) < 3 {
		t.Fatalf("guides %v, %v", guides, err)
	}
	for _, file := range append(guides, "../../README.md") {
		if filepath.Base(file) == "guide-from-files.md" { // it needs a folder, and has a test of its own
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			walkThrough(t, file)
		})
	}
}

// setting is what a line that says `make run` wants the service to be started with.
var setting = regexp.MustCompile(`\bSVC_DB_(\w+)=(\S+)`)

// walkThrough starts a service as a document says and executes its blocks.
func walkThrough(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	env := onSQLite(t.TempDir()).bootstrapping().with(environment{"ADMINSECRET": guideAdminSecret, "NODESECRET": guideNodeSecret})
	for line := range strings.Lines(string(text)) {
		for _, m := range setting.FindAllStringSubmatch(line, -1) {
			if strings.Contains(line, "make run") {
				env[m[1]] = m[2]
			}
		}
	}
	const portal = "http://127.0.0.1:3001" // of `make run`; here it is beside the dashboard
	if strings.Contains(string(text), portal) {
		env["PORTAL_SERVE"] = "shared"
	}
	s := serve(t, env)
	here := strings.NewReplacer(portal, s.api.base, "http://127.0.0.1:3000", s.api.base, "KEY=…", "KEY="+accessKey, "ORG=…", "ORG="+orgID)
	guide := apptest.ReadGuide(here.Replace(string(text)))
	if len(guide.Promises) == 0 {
		t.Fatalf("%s promises nothing", file)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-c", guide.Script)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v after\n%s", err, out)
	}
	for _, broken := range guide.Broken(string(out)) {
		t.Errorf("%s: %s", file, broken)
	}
}
