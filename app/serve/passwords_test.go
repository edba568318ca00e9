package serve

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// A start reads the password policies. Its error names the file and the problem.
func TestPasswordPolicyFile(t *testing.T) {
	for _, file := range []string{"password.json", "basic_auth.json"} {
		t.Run(file, func(t *testing.T) { policyFile(t, file) })
	}
}

func policyFile(t *testing.T, file string) {
	for text, says := range map[string]string{"": "", `{"minLength":12}`: "", `{"minLength":-1}`: "minLength must be 0 to 128", `{`: "unexpected end"} {
		home := t.TempDir()
		if text != "" {
			if err := os.Mkdir(filepath.Join(home, "schemas"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, "schemas", file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, report := config.Load(nil, "", []string{"SVC_DB_STORAGE_MAIN_TYPE=memory", "SVC_DB_HOMEDIR=" + home}, config.Options{})
		if err := report.Err(); err != nil {
			t.Fatal(err)
		}
		c, err := Compose(t.Context(), s, slog.New(slog.DiscardHandler), "test")
		if err == nil {
			err = c.Close()
		}
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), file)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
