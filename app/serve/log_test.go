package serve_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/serve"
)

// No log line shows a secret, whichever part writes it.
func TestLogHidesSecrets(t *testing.T) {
	for _, format := range []string{config.FormatJSON, "text"} {
		var b bytes.Buffer
		log := serve.NewLogger(&b, config.Log{Format: format})
		log.Error("no connection to redis://u:s3cr3t@redis.example", "error", errors.New("dial postgres://u:s3cr3t@db.example/x: refused"),
			"address", "https://h.example/?access_token=s3cr3t", "access_key", "s3cr3t", slog.Group("upstream", "url", "http://u:s3cr3t@up.example"), "id", "5")
		text := b.String()
		if strings.Contains(text, "s3cr3t") || !strings.Contains(text, "db.example") || !strings.Contains(text, "up.example") || !strings.Contains(text, "5") {
			t.Error(text)
		}
	}
}
