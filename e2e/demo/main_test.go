package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }

// TestDemo starts the demo, and opens the printed addresses.
func TestDemo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	dashboard, portal := harness.FreePort(t), harness.FreePort(t)
	done := make(chan error, 1)
	go func() { done <- run(ctx, dashboard, portal) }()
	open := func(port int, path, want string) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			text, err := fetch(ctx, fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
			if err == nil && strings.Contains(text, want) {
				return
			}
			select {
			case err := <-done:
				t.Fatal(err)
			default:
			}
			if time.Now().After(end) {
				t.Fatalf("%s never shows %q: %v", path, want, err)
			}
		}
	}
	open(portal, "/blog", "A new portal") // the last data to be filled in
	open(portal, "/", "Payments")
	open(portal, "/portal/catalogue-products/payments/payments/docs", "Fetch one of payments")
	open(dashboard, "/", "Gatehouse")
	stop()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func fetch(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", "text/html")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}
