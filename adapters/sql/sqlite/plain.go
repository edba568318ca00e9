package sqlite

import (
	"database/sql"
	"errors"
	"log/slog"
	"runtime"
)

// Plain opens a file with tables other than a Store's, for any number of processes, and
// creates it when it is missing. It returns connections that read, and one that writes.
func Plain(path string, log *slog.Logger) (readers, writers *sql.DB, err error) {
	if path, err = resolve(path); err != nil {
		return nil, nil, err
	}
	if err := onlyName(path); err != nil {
		return nil, nil, err
	}
	if err := guardFiles(path, log); err != nil {
		return nil, nil, err
	}
	if writers, err = connect(path, 1, "_txlock=immediate"); err != nil {
		return nil, nil, err
	}
	if readers, err = connect(path, max(4, runtime.NumCPU()), "_pragma=query_only(1)"); err != nil {
		return nil, nil, errors.Join(err, writers.Close())
	}
	return readers, writers, nil
}
