package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/password"
)

// passwordSettings reads the policy of passwords, schemas/password.json in home_dir, if it
// is there.
func passwordSettings(s config.Settings) (app.Option, error) {
	r := identity.PasswordSettings{History: s.Security.PasswordHistory, MaxDays: s.Security.PasswordMaxDays, First: s.Security.FirstLoginChange}
	file := filepath.Join(s.HomeDir, "schemas", "password.json")
	text, err := os.ReadFile(file)
	if err == nil {
		r.Policy, err = password.Parse(text)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("home_dir: the policy of passwords %s: %w; correct the file or remove it", file, err)
	}
	return app.WithPasswordSettings(r), nil
}
