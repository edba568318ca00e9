package dashboard_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// TestKeyUsage reads the usage of keys, and refuses malformed responses.
func TestKeyUsage(t *testing.T) {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ask := func(body string) ([]dashboard.Day, error) {
		e := dashboard.Entries{Wire: func(_ context.Context, r dashboard.Request) (dashboard.Answer, error) {
			if r.Params["keyHashes"] != "a,b" || r.Params["startDay"] != "1" || r.Params["EndMonth"] != "1" || r.Params["EndYear"] != "2026" {
				t.Errorf("%+v", r)
			}
			return dashboard.Answer{Body: []byte(body)}, nil
		}}
		return e.KeyUsage(t.Context(), []string{"a", "b"}, from, from.AddDate(0, 0, 3))
	}
	have, err := ask(`{"data":[{"id":{"day":2,"month":1,"year":2026},"hits":7,"success":2,"error":5,"latency":227.5},{"id":{"day":3,"month":1,"year":2026},"hits":1,"latency":"x"}],"pages":1}`)
	want := []dashboard.Day{{Date: from.AddDate(0, 0, 1), Calls: 7, Errors: 5, Latency: 227.5}, {Date: from.AddDate(0, 0, 2), Calls: 1}}
	if err != nil || !slices.Equal(have, want) {
		t.Error(have, err)
	}
	for _, body := range []string{``, `{}`, `{"data":7}`} {
		if _, err := ask(body); !errors.Is(err, dashboard.ErrUnreachable) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
