package scenarios

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/files/s3/s3test"
	"github.com/gatehouse-io/gatehouse/app/apptest"
)

// The secrets that `make run` gives the service by default.
const (
	guideAdminSecret = "admin-secret"
	guideNodeSecret  = "node-secret"
)

// TestGuides runs the README and the guides literally: every block marked sh runs in
// bash with its own service. A line "# → text" in a block says what the commands since
// the last such line print; … in it stands for any text.
func TestGuides(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the guides are not tested: they need curl, and there is none")
	}
	guides, err := filepath.Glob("../../docs/guide-*.md")
	if err != nil || len(guides) < 3 {
		t.Fatalf("guides %v, %v", guides, err)
	}
	for _, file := range append(guides, "../../README.md") {
		if slices.Contains([]string{"guide-from-files.md", storageGuide}, filepath.Base(file)) { // these have their own tests
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			walkThrough(t, file, string(text))
		})
	}
}

const storageGuide = "guide-storage.md"

// TestStorageGuide runs the guide of storages: each section with commands starts a
// service with its own settings, and begins with the commands before all sections.
func TestStorageGuide(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the guide is not tested: it needs curl, and there is none")
	}
	text, err := os.ReadFile("../../docs/" + storageGuide)
	if err != nil {
		t.Fatal(err)
	}
	bucket := s3test.Plain(t)
	here := strings.NewReplacer("https://s3.example.com", bucket.URL, "S3_REGION=eu-1", "S3_REGION="+s3test.Region, "/portal-files", "/"+s3test.Bucket, "S3_BUCKET=portal-files", "S3_BUCKET="+s3test.Bucket,
		"S3_AWS_ACCESS_KEY_ID=…", "S3_AWS_ACCESS_KEY_ID="+s3test.AccessKey, "S3_AWS_SECRET_ACCESS_KEY=…", "S3_AWS_SECRET_ACCESS_KEY="+s3test.SecretKey)
	sections := strings.Split(here.Replace(string(text)), "\n## ")
	walked := 0
	for _, section := range sections[1:] {
		if strings.Contains(section, "```sh") {
			walkThrough(t, storageGuide, sections[0]+"\n"+section)
			walked++
		}
	}
	if walked != 3 || len(bucket.Objects()) != 1 {
		t.Errorf("%d storages, %d objects in the bucket", walked, len(bucket.Objects()))
	}
}

// setting matches the service settings in a line with `make run`.
var setting = regexp.MustCompile("\\b(?:SVC_DB_(\\w+)|(SVC_PORTAL_\\w+))=([^\\s`]+)")

// walkThrough starts a service as a document says and runs its blocks.
func walkThrough(t *testing.T, file, text string) {
	t.Helper()
	data, work := t.TempDir(), t.TempDir()
	if err := os.Symlink(data, filepath.Join(work, "data")); err != nil { // of `make run`
		t.Fatal(err)
	}
	env := onSQLite(data).bootstrapping().with(environment{"ADMINSECRET": guideAdminSecret, "NODESECRET": guideNodeSecret})
	for line := range strings.Lines(text) {
		for _, m := range setting.FindAllStringSubmatch(line, -1) {
			if strings.Contains(line, "make run") {
				env[m[1]+m[2]] = m[3]
			}
		}
	}
	const portal = "http://127.0.0.1:3001" // of `make run`; here it is beside the dashboard
	if strings.Contains(text, portal) {
		env["PORTAL_SERVE"] = "shared"
	}
	s := serve(t, env)
	here := strings.NewReplacer(portal, s.api.base, "http://127.0.0.1:3000", s.api.base, "KEY=…", "KEY="+accessKey, "ORG=…", "ORG="+orgID)
	guide := apptest.ReadGuide(here.Replace(text))
	if len(guide.Promises) == 0 {
		t.Fatalf("%s promises nothing", file)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-c", guide.Script)
	cmd.Dir = work
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v after\n%s", err, out)
	}
	for _, broken := range guide.Broken(string(out)) {
		t.Errorf("%s: %s", file, broken)
	}
}
