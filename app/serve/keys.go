package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/identity"
	core "github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// openKeys returns what protects access keys: the configured encryption keys; on
// PostgreSQL, where replicas must agree, else the admin secret; on SQLite else a
// key file beside the database, made at the first start.
func openKeys(ctx context.Context, s config.Settings, log *slog.Logger, lost bool) (secret.Keys, error) {
	var secrets []string
	for _, k := range s.EncryptionKeys {
		secrets = append(secrets, k.Reveal())
	}
	switch {
	case len(secrets) > 0:
	case s.Storage.Type == config.Memory:
		return crypto.Ephemeral()
	case s.Storage.Type == config.Postgres && s.AdminSecret != "":
		log.Warn("encryption_keys is not set: access keys are protected with admin_secret, which can then not be changed without naming it in encryption_keys")
		secrets = []string{s.AdminSecret.Reveal()}
	case s.Storage.Type == config.Postgres:
		return nil, errors.New("encryption_keys: set at least one secret (the same for every replica) to protect access keys in PostgreSQL")
	default:
		key, err := keyFile(ctx, s, lost)
		if err != nil {
			return nil, err
		}
		secrets = []string{key}
	}
	return crypto.NewKeys(secrets...)
}

// keyFile returns the secret in the key file. It makes the file at the first
// start, and never for a database that another key protects.
func keyFile(ctx context.Context, s config.Settings, lost bool) (string, error) {
	db, err := sqlitePath(s)
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.HomeDir, "gatehouse.key")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !lost {
		protects, err := sqlite.Holds(ctx, db, core.UserKind)
		if err != nil {
			return "", ofStorage(fmt.Errorf("open %s: %w", db, err))
		}
		if protects {
			return "", fmt.Errorf("the key file %s is missing, and %s has users whose access keys it protects: put the file back from its backup, "+
				"or name its content in encryption_keys; if it is lost, `gatehouse keys reset` gives every user a new access key", path, db)
		}
	}
	key, err := crypto.LoadOrCreateKey(path)
	if err != nil {
		return "", fmt.Errorf("encryption_keys is not set, and the key file in home_dir cannot be used: %w", err)
	}
	return key, nil
}

// fitKeys refuses keys that open nothing in the store: every user would get 401.
func fitKeys(ctx context.Context, s config.Settings, st any, keys secret.Keys, lost bool) error {
	primary, ok := st.(store.Store)
	if !ok || lost {
		return nil
	}
	err := (&identity.Service{Store: primary, Keys: keys}).FitKeys(ctx)
	if !errors.Is(err, identity.ErrKeys) {
		return err
	}
	where := "encryption_keys"
	switch {
	case len(s.EncryptionKeys) > 0:
	case s.Storage.Type == config.Postgres:
		where = "admin_secret, which stands in for encryption_keys"
	default:
		where = "the key file " + filepath.Join(s.HomeDir, "gatehouse.key")
	}
	return fmt.Errorf("%s: %w: restore the key that was used before, or name it last in encryption_keys; if it is lost, `gatehouse keys reset` gives every user a new access key",
		where, err)
}
