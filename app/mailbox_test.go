package app_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/ports/mail"
)

// mailbox gets the mails of a service. In requests, {code} is the code of the first.
type mailbox struct {
	t     testing.TB
	mails chan mail.Message
	code  func() string
}

func newMailbox(t testing.TB) *mailbox {
	m := &mailbox{t: t, mails: make(chan mail.Message, 10)}
	m.code = sync.OnceValue(func() string {
		select {
		case got := <-m.mails:
			return regexp.MustCompile(`code(?:=|: )([A-Z0-9]+)`).FindStringSubmatch(got.Text)[1]
		case <-time.After(20 * time.Second):
			t.Error("no mail has come")
			return ""
		}
	})
	return m
}

// Send implements mail.Sender.
func (m *mailbox) Send(_ context.Context, got mail.Message) error {
	m.mails <- got
	return nil
}

// before puts the code into requests.
func (m *mailbox) before(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			m.t.Error(err)
		}
		if bytes.Contains(body, []byte("{code}")) {
			body = bytes.ReplaceAll(body, []byte("{code}"), []byte(m.code()))
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		h.ServeHTTP(w, r)
	})
}

// running starts the background work of a service until the test ends.
func running(t testing.TB, a *app.App) {
	t.Helper()
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
