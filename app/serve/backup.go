package serve

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// errForgetful is the error for a store in memory.
var errForgetful = errors.New("storage.main.type is memory: there is nothing to back up or to restore")

// ErrNotEmpty means that a store has records and may not be replaced.
var ErrNotEmpty = errors.New("the store is not empty")

// Copied describes the content of a backup.
type Copied struct {
	Records, Revision int64
	Kept              string // path of the previous store, "" if it is not kept
}

func copied(c sqladapter.Content) Copied {
	return Copied{Records: c.Rows["record"], Revision: int64(c.Head)}
}

// Backup copies the configured store into a new file. Services may run meanwhile. The
// file has the same format for all stores, so it can also move data between them.
func Backup(ctx context.Context, s config.Settings, log *slog.Logger, file string) (Copied, error) {
	var c sqladapter.Content
	var err error
	switch s.Storage.Type {
	case config.Memory:
		return Copied{}, errForgetful
	case config.Postgres:
		var st *postgres.Store
		if st, err = postgres.Open(ctx, postgres.Config{DSN: s.Storage.ConnectionString.Reveal(), Logger: log}); err == nil {
			c, err = sqlite.Backup(ctx, st, file)
			err = errors.Join(err, st.Close())
		}
	default:
		if err = stored(s); err != nil {
			return Copied{}, err
		}
		var path string
		if path, err = sqlitePath(s); err != nil {
			return Copied{}, err
		}
		var st *sqlite.Store
		if st, err = sqlite.Open(ctx, sqlite.Config{Path: path, Beside: true, Logger: log}); err == nil {
			c, err = sqlite.Backup(ctx, st, file)
			err = errors.Join(err, st.Close())
		}
	}
	return copied(c), err
}

// Restore copies a backup into the configured store, which no service may use
// meanwhile. It replaces an existing store only if replace is set.
func Restore(ctx context.Context, s config.Settings, log *slog.Logger, file string, replace bool) (Copied, error) {
	switch s.Storage.Type {
	case config.Memory:
		return Copied{}, errForgetful
	case config.Postgres:
		out, err := restorePostgres(ctx, s, log, file, replace)
		return out, notEmpty(err)
	}
	path, err := sqlitePath(s)
	if err != nil {
		return Copied{}, err
	}
	c, kept, err := sqlite.Restore(ctx, file, path, replace, time.Now())
	out := copied(c)
	out.Kept = kept
	return out, notEmpty(err)
}

func notEmpty(err error) error {
	if errors.Is(err, store.ErrTaken) {
		return ErrNotEmpty
	}
	return err
}

func restorePostgres(ctx context.Context, s config.Settings, log *slog.Logger, file string, replace bool) (_ Copied, err error) {
	folder, err := os.MkdirTemp("", "gatehouse-restore-*")
	if err != nil {
		return Copied{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path, _, err := sqlite.OpenBackup(ctx, file, folder)
	if err != nil {
		return Copied{}, err
	}
	from, err := sqlite.Connect(path)
	if err != nil {
		return Copied{}, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	st, err := postgres.Open(ctx, postgres.Config{DSN: s.Storage.ConnectionString.Reveal(), Logger: log})
	if err != nil {
		return Copied{}, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	c, err := st.CopyFrom(ctx, from, replace)
	return copied(c), err
}

// restored tells gateways to reload if the store was restored from a backup.
func (c *Composition) restored(ctx context.Context) error {
	st, ok := c.primary.(interface {
		Restored(ctx context.Context, tell func(context.Context) error) error
	})
	if !ok {
		return nil
	}
	return st.Restored(ctx, c.Reload)
}

// copier is a store that can be copied.
type copier interface {
	CopyTo(ctx context.Context, to *sql.DB) (sqladapter.Content, error)
}

// backupBeside responds to GET /admin/backup with a backup if the caller presents the
// admin secret, and passes all other requests to next. It is not an operation of the
// App, because a backup is too large for a response that is built in memory.
func (c *Composition) backupBeside(next http.Handler, s config.Settings, log *slog.Logger) http.Handler {
	var turn sync.Mutex // one backup at a time
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/admin/backup" || r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		// The App authenticates the caller and counts wrong secrets: another operation
		// with the admin secret is called.
		asked := r.Clone(r.Context())
		asked.URL, asked.Body = &url.URL{Path: "/admin/hello"}, http.NoBody
		caller := &said{header: http.Header{}, status: http.StatusOK}
		if c.ServeHTTP(caller, asked); caller.status != http.StatusOK {
			maps.Copy(w.Header(), caller.header)
			w.WriteHeader(caller.status)
			_, _ = w.Write(caller.body.Bytes())
			return
		}
		st, ok := c.primary.(copier)
		if !ok {
			refuse(w, http.StatusNotFound, "There is nothing to back up: the store is in memory")
			return
		}
		if !turn.TryLock() {
			w.Header().Set("Retry-After", "10")
			refuse(w, http.StatusServiceUnavailable, "Another backup is being made; try again")
			return
		}
		defer turn.Unlock()
		if err := sendBackup(r.Context(), w, st, s.HomeDir, log); err != nil {
			log.Error("a backup failed", "error", err)
			status := http.StatusInternalServerError
			if errors.Is(err, store.ErrFull) {
				status = http.StatusInsufficientStorage
			}
			refuse(w, status, "The backup failed; the log of the service says why") // has no effect once bytes have been sent
		}
	})
}

// said records a small response.
type said struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (s *said) Header() http.Header { return s.header }

// WriteHeader implements http.ResponseWriter.
func (s *said) WriteHeader(status int) { s.status = status }

// Write implements http.ResponseWriter.
func (s *said) Write(p []byte) (int, error) { return s.body.Write(p) }

// sendBackup makes a backup in a temporary file and sends it.
func sendBackup(ctx context.Context, w http.ResponseWriter, st copier, home string, log *slog.Logger) (err error) {
	folder, err := os.MkdirTemp(home, ".backup-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "gatehouse-backup.db")
	made, err := sqlite.Backup(ctx, st, path)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/vnd.sqlite3")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="gatehouse-%d.db"`, made.Head))
	h.Set("Content-Length", fmt.Sprint(info.Size()))
	h.Set("Cache-Control", "no-store")
	patient := http.NewResponseController(w) // the timeout depends on the size, instead of the usual one for responses
	_ = patient.SetWriteDeadline(time.Now().Add(sendTime + time.Duration(info.Size()/slowest)*time.Second))
	_, err = io.Copy(w, f)
	log.Info("a backup was sent", "revision", uint64(made.Head), "bytes", info.Size(), "error", err)
	return nil // the response has begun, so no error can be sent
}

// Bounds of sending: a backup may take sendTime, and more if it is large, at the rate
// slowest.
const (
	sendTime = 2 * time.Minute
	slowest  = 256 << 10 // bytes a second
)

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"Status":"Error","Message":%q,"Meta":null}`, message)
}
