package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/core/password"
)

// passwordPolicy reads a password policy below schemas in home_dir, if the file exists.
func passwordPolicy(s config.Settings, name string) (p password.Policy, err error) {
	file := filepath.Join(s.HomeDir, "schemas", name)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		p, err = password.Parse(text)
	}
	if err != nil {
		return p, fmt.Errorf("home_dir: the policy of passwords %s: %w; correct the file or remove it", file, err)
	}
	return p, nil
}
