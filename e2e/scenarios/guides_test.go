package scenarios

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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
	s := serve(t, env)
	script := strings.NewReplacer("http://127.0.0.1:3000", s.api.base, "KEY=…", "KEY="+accessKey, "ORG=…", "ORG="+orgID).Replace(blocks(string(text)))
	script, wanted := expectations(script)
	if len(wanted) == 0 {
		t.Fatalf("%s promises nothing", file)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-c", script)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v after\n%s", err, out)
	}
	rest := string(out)
	for i, want := range wanted {
		var have string
		have, rest, _ = strings.Cut(rest, mark(i))
		if !matches(have, want) {
			t.Errorf("%s promises\n%s\nand there comes\n%s", file, want, have)
		}
	}
}

// blocks joins the blocks of a document that are marked sh.
func blocks(text string) string {
	var out strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		switch trimmed := strings.TrimSpace(line); {
		case !inside && trimmed == "```sh":
			inside = true
		case inside && trimmed == "```":
			inside = false
		case inside:
			out.WriteString(line)
		}
	}
	return out.String()
}

// expectations takes the promises out of a script and puts marks there.
func expectations(script string) (marked string, wanted []string) {
	var out strings.Builder
	for line := range strings.Lines(script) {
		if want, ok := strings.CutPrefix(strings.TrimSpace(line), "# → "); ok {
			fmt.Fprintf(&out, "printf '%%s' '%s'\n", mark(len(wanted)))
			wanted = append(wanted, want)
			continue
		}
		out.WriteString(line)
	}
	return out.String(), wanted
}

func mark(i int) string { return fmt.Sprintf("<promise %d>", i) }

// matches reports whether text has the parts of a pattern, in order.
func matches(text, pattern string) bool {
	for part := range strings.SplitSeq(pattern, "…") {
		_, after, ok := strings.Cut(text, strings.TrimSpace(part))
		if !ok {
			return false
		}
		text = after
	}
	return true
}
