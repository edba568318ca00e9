package serve

import (
	"bytes"
	"io"
	"log/slog"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/core/redact"
)

// NewLogger returns a logger for the settings. Equal warnings and errors are folded. If
// w is an outlet, it reports in the same format how many lines it has dropped.
func NewLogger(w io.Writer, l config.Log) *slog.Logger {
	if o, ok := w.(*Outlet); ok {
		o.announce(func(lines int) []byte {
			var b bytes.Buffer
			slog.New(formatted(&b, l)).Error("lines of this log were left out: what reads it was too slow", "lines", lines)
			return b.Bytes()
		})
	}
	return slog.New(&folding{next: formatted(w, l), folds: &folds{open: map[string]*fold{}}})
}

func formatted(w io.Writer, l config.Log) slog.Handler {
	opts := &slog.HandlerOptions{Level: l.Slog(), ReplaceAttr: redacted}
	if l.Format == config.FormatJSON {
		return slog.NewJSONHandler(w, opts)
	}
	return slog.NewTextHandler(w, opts)
}

// redacted masks secrets in log lines: errors of drivers and clients quote the URLs
// that they were given.
func redacted(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		if redact.Name(a.Key) {
			return slog.String(a.Key, redact.Hidden)
		}
		return slog.String(a.Key, redact.Text(v))
	case error:
		return slog.String(a.Key, redact.Text(v.Error()))
	}
	return a
}
