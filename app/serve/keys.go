package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/identity"
	core "github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// openKeys returns the keys that protect access keys and documents: the configured
// encryption keys. Without them, PostgreSQL, whose replicas must have the same key,
// uses the admin secret, and SQLite uses a key file beside the database, which the
// first start creates.
func openKeys(ctx context.Context, s config.Settings, log *slog.Logger, lost bool) (secret.Keys, sqladapter.Sealing, error) {
	var secrets []string
	for _, k := range s.EncryptionKeys {
		secrets = append(secrets, k.Reveal())
	}
	switch {
	case len(secrets) > 0:
	case s.Storage.Type == config.Memory:
		keys, err := crypto.Ephemeral()
		return keys, sqladapter.Sealing{}, err
	case s.Storage.Type == config.Postgres && s.AdminSecret != "":
		log.Warn("encryption_keys is not set: access keys and documents are protected with admin_secret, which can then not be changed without naming it in encryption_keys")
		secrets = []string{s.AdminSecret.Reveal()}
	case s.Storage.Type == config.Postgres:
		return nil, sqladapter.Sealing{}, errors.New("encryption_keys: set at least one secret (the same for every replica) to protect what is stored in PostgreSQL")
	default:
		key, err := keyFile(ctx, s, lost)
		if err != nil {
			return nil, sqladapter.Sealing{}, err
		}
		secrets = []string{key}
	}
	keys, err := crypto.NewKeys(secrets...)
	if err != nil {
		return nil, sqladapter.Sealing{}, err
	}
	documents, err := crypto.NewDocuments(secrets...)
	return keys, sqladapter.Sealing{Documents: documents, Clear: !s.EncryptAtRest}, err
}

// openSigner returns the signer of the audit trail. It has keys of its own, or keys
// derived from the encryption keys; nil if these cannot sign.
func openSigner(own []config.Secret, keys secret.Keys) (audit.Signer, error) {
	older, ok := keys.(*crypto.Keys)
	if len(own) == 0 {
		if !ok {
			return nil, nil
		}
		return older, nil
	}
	var secrets []string
	for _, k := range own {
		text := k.Reveal()
		if path, inFile := strings.CutPrefix(text, "file:"); inFile {
			read, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("audit.signing_keys: %w", err)
			}
			text = strings.TrimSpace(string(read))
		}
		secrets = append(secrets, text)
	}
	s, err := crypto.NewSigner(older, secrets...)
	if err != nil {
		return nil, fmt.Errorf("audit.signing_keys: %w", err)
	}
	return s, nil
}

// keyFile returns the secret in the key file. The first start creates the file, but not
// for a database that another key protects.
func keyFile(ctx context.Context, s config.Settings, lost bool) (string, error) {
	db, err := sqlitePath(s)
	if err != nil {
		return "", err
	}
	path := keyPath(s)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		// A new key file must not be made for a database that needs the one that is missing.
		encrypted, err := sqlite.Sealed(ctx, db)
		if err != nil {
			return "", ofStorage(s.Storage, fmt.Errorf("open %s: %w", db, err))
		}
		if encrypted {
			return "", fmt.Errorf("the key file %s is missing, and the records in %s are encrypted with it: put the file back from its backup, "+
				"or name its content in encryption_keys; nothing can be read without it", path, db)
		}
		protects, err := sqlite.Holds(ctx, db, core.UserKind)
		if err != nil {
			return "", ofStorage(s.Storage, fmt.Errorf("open %s: %w", db, err))
		}
		if protects && !lost {
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

// sealed is a store that may be encrypted.
type sealed interface {
	store.Store
	Fits(ctx context.Context) error
	Reseal(ctx context.Context, progress func(done int)) (int, error)
}

// fitKeys returns an error if the keys open nothing in the store: no record could be
// read, or every user would get 401.
func fitKeys(ctx context.Context, s config.Settings, st any, keys secret.Keys, lost bool) error {
	primary, ok := st.(sealed)
	if !ok {
		return nil
	}
	err := primary.Fits(ctx)
	if err == nil && !lost {
		err = (&identity.Service{Store: primary, Keys: keys}).FitKeys(ctx)
	}
	if !errors.Is(err, identity.ErrKeys) && !errors.Is(err, sqladapter.ErrSealed) {
		return err
	}
	where := "encryption_keys"
	switch {
	case len(s.EncryptionKeys) > 0:
	case s.Storage.Type == config.Postgres:
		where = "admin_secret, which stands in for encryption_keys"
	default:
		where = "the key file " + keyPath(s)
	}
	if errors.Is(err, sqladapter.ErrSealed) {
		return fmt.Errorf("%s: %w: restore the key that was used before, or name it last in encryption_keys; nothing can be read without it", where, sqladapter.ErrSealed)
	}
	return fmt.Errorf("%s: %w: restore the key that was used before, or name it last in encryption_keys; if it is lost, `gatehouse keys reset` gives every user a new access key",
		where, err)
}

// reseal encrypts with the current key what is stored unencrypted or with an older key.
// It has no timeout, and logs its progress.
func (c *Composition) reseal(ctx context.Context, log *slog.Logger) error {
	st, ok := c.primary.(sealed)
	if !ok {
		return nil
	}
	told := 0
	n, err := st.Reseal(ctx, func(done int) {
		if done/resealStep > told {
			told = done / resealStep
			log.Info("what is stored is being encrypted with the current key", "rows", done)
		}
	})
	if n > 0 && err == nil {
		log.Info("what is stored is encrypted with the current key", "rows", n)
	}
	if err != nil {
		return fmt.Errorf("encrypt_at_rest: %w", err)
	}
	return nil
}

// resealStep is the number of rows after which reseal logs its progress.
const resealStep = 5000
