package serve

import (
	"io"
	"log/slog"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/core/redact"
)

// NewLogger returns the logger that the settings ask for. Equal warnings and
// errors are folded.
func NewLogger(w io.Writer, l config.Log) *slog.Logger {
	opts := &slog.HandlerOptions{Level: l.Slog(), ReplaceAttr: redacted}
	var next slog.Handler = slog.NewTextHandler(w, opts)
	if l.Format == config.FormatJSON {
		next = slog.NewJSONHandler(w, opts)
	}
	return slog.New(&folding{next: next, folds: &folds{open: map[string]*fold{}}})
}

// redacted hides secrets in what is logged: errors of drivers and clients quote the
// addresses that they were given.
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
