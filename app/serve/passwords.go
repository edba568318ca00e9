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
	"github.com/gatehouse-io/gatehouse/app/keys"
	"github.com/gatehouse-io/gatehouse/core/password"
)

// passwordPolicy reads a policy of passwords below schemas in home_dir, if it is there.
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

// passwordSettings says which passwords users may have.
func passwordSettings(s config.Settings) (app.Option, error) {
	p, err := passwordPolicy(s, "password.json")
	return app.WithPasswordSettings(identity.PasswordSettings{
		Policy: p, History: s.Security.PasswordHistory, MaxDays: s.Security.PasswordMaxDays, First: s.Security.FirstLoginChange,
	}), err
}

// keySettings says how keys are treated, and which passwords basic-auth users may have.
func keySettings(s config.Settings) (app.Option, error) {
	p, err := passwordPolicy(s, "basic_auth.json")
	k := s.Keys
	return app.WithKeySettings(keys.Settings{
		Hashed: k.Hashed, ListHashes: k.ListHashes, UpdateByHash: k.UpdateByHash, DeleteByHash: k.DeleteByHash, NotByUser: k.NotByUser, Master: k.Master, Password: p,
	}), err
}
