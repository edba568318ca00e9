//go:build !unix

package serve

import (
	"context"
	"errors"
	"log/slog"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// Supervise is not supported: it needs processes that can inherit sockets.
func Supervise(context.Context, config.Settings, *slog.Logger, ...string) error {
	return errors.New("--supervise works on Linux, macOS and other Unix systems only; leave it out")
}

// openFiles returns how many files the process may open; 0: no limit is known.
func openFiles() int { return 0 }
