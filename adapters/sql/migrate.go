package sql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
)

//go:embed migrations
var migrations embed.FS

// Step is one migration file.
type Step struct {
	Name    string // "0001_records.sql"
	Sum     string // hash of the file, so that a changed file is noticed
	Applied bool
	text    string
}

// Steps returns the embedded migrations of a dialect, in order.
func Steps(dialect string) ([]Step, error) {
	dir := path.Join("migrations", dialect)
	files, err := fs.ReadDir(migrations, dir)
	if err != nil {
		return nil, err
	}
	out := make([]Step, 0, len(files))
	for _, f := range files {
		text, err := fs.ReadFile(migrations, path.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		out = append(out, Step{Name: f.Name(), Sum: hex.EncodeToString(sum[:8]), text: string(text)})
	}
	return out, nil
}

// Migrate updates the schema, one step per transaction, and returns all steps, with the
// steps that it applied marked. Processes that start together take turns. Migrate
// refuses a database that a newer program has migrated, and one whose applied steps
// differ from the embedded ones.
func Migrate(ctx context.Context, db *sql.DB, d Dialect) ([]Step, error) {
	steps, err := Steps(d.Name)
	if err != nil {
		return nil, err
	}
	ses, err := newSession(ctx, db, d)
	if err != nil {
		return nil, err
	}
	defer ses.close()
	for i := range steps {
		if steps[i].Applied, err = apply(ctx, ses, d, steps, i); err != nil {
			return nil, fmt.Errorf("migration %s: %w", steps[i].Name, err)
		}
	}
	return steps, nil
}

// apply executes step i unless the database has it.
func apply(ctx context.Context, ses *session, d Dialect, steps []Step, i int) (now bool, err error) {
	if err := ses.direct(ctx, d.Begin); err != nil {
		return false, err
	}
	defer func() {
		if !now || err != nil { // else the transaction is committed, and a rollback would make a server log a warning
			_ = ses.direct(context.WithoutCancel(ctx), "rollback")
		}
	}()
	if d.Lock != "" {
		if err := ses.direct(ctx, d.Lock); err != nil {
			return false, err
		}
	}
	if err := ses.direct(ctx, `create table if not exists migration (name text not null constraint migration_pk primary key, sum text not null)`); err != nil {
		return false, err
	}
	have, err := applied(ctx, ses)
	if err != nil {
		return false, err
	}
	if len(have) > len(steps) {
		return false, fmt.Errorf("the database has %d migrations, this program knows %d: use the newer program", len(have), len(steps))
	}
	if sum, ok := have[steps[i].Name]; ok {
		if sum != steps[i].Sum {
			return false, fmt.Errorf("the database was migrated with another version of this step (%s, not %s)", sum, steps[i].Sum)
		}
		return false, nil
	}
	if err := ses.direct(ctx, steps[i].text); err != nil {
		return false, err
	}
	if err := ses.direct(ctx, fmt.Sprintf(`insert into migration (name, sum) values ('%s', '%s')`, steps[i].Name, steps[i].Sum)); err != nil {
		return false, err
	}
	return true, ses.direct(ctx, "commit")
}

func applied(ctx context.Context, ses *session) (map[string]string, error) {
	rows, err := ses.conn.QueryContext(ctx, `select name, sum from migration`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	have := map[string]string{}
	for rows.Next() {
		var name, sum string
		if err := rows.Scan(&name, &sum); err != nil {
			return nil, err
		}
		have[name] = sum
	}
	return have, rows.Err()
}

// direct executes text that may contain several statements.
func (s *session) direct(ctx context.Context, text string) error {
	_, err := s.conn.ExecContext(ctx, text)
	return err
}
