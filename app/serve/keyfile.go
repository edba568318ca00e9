package serve

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/app/config"
)

// keyFileEvery is how often a service checks that the key file exists.
const keyFileEvery = 5 * time.Second

func keyPath(s config.Settings) string { return filepath.Join(s.HomeDir, "gatehouse.key") }

// keepKeyFile writes the key file again if it is removed while the service runs: the
// process may have the last copy of the key, and without the key no record could be
// read after its end. The returned function stops this.
func keepKeyFile(ctx context.Context, s config.Settings, log *slog.Logger) (func(), error) {
	if len(s.EncryptionKeys) > 0 || s.Storage.Type != config.SQLite { // the key is in no file
		return func() {}, nil
	}
	key, err := crypto.LoadOrCreateKey(keyPath(s))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it continues while the service stops
	var all sync.WaitGroup
	all.Go(func() {
		tick := time.NewTicker(keyFileEvery)
		defer tick.Stop()
		for {
			lookAtKey(s, key, log)
			select {
			case <-ctx.Done():
				lookAtKey(s, key, log)
				return
			case <-tick.C:
			}
		}
	})
	return func() { cancel(); all.Wait() }, nil
}

// lookAtKey checks the key file. It does nothing if the database is missing too, for
// example because its disk is not mounted.
func lookAtKey(s config.Settings, key string, log *slog.Logger) {
	if _, err := os.Stat(sqliteFile(s.SQLiteFile())); err != nil {
		return
	}
	path := keyPath(s)
	switch back, err := crypto.KeepKey(path, key); {
	case err != nil:
		log.Error("the key file is not as it was when the service started: put it back before the service ends, or nothing that is stored can be read any more", "file", path, "error", err)
	case back:
		log.Warn("the key file was gone and has been put back; to do without it, name its content in encryption_keys, and remove it after the next start", "file", path)
	}
}
