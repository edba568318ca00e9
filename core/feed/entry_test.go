package feed_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// TestOf: a text with problems is not served.
func TestOf(t *testing.T) {
	text, problem := []byte(`{}`), shape.Problem{Path: "a", Want: "a text", Got: "a number"}
	for name, c := range map[string]struct {
		problems []shape.Problem
		served   bool
	}{"none": {nil, true}, "an empty list": {[]shape.Problem{}, true}, "one": {[]shape.Problem{problem}, false}} {
		if e := feed.Of(text, c.problems); (e.Text != nil) != c.served || (len(e.Problems) > 0) == c.served {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := feed.Broken("a policy"); e.Text != nil || len(e.Problems) != 1 || e.Problems[0].Want != "a policy" {
		t.Errorf("%+v", e)
	}
}

// TestSince: the entry of an API, active or not, has the time of its record; a record without
// a time is older than all others.
func TestSince(t *testing.T) {
	for created, want := range map[string]time.Time{
		`"2026-01-02T03:04:05.5Z"`:    time.Date(2026, 1, 2, 3, 4, 5, 5e8, time.UTC),
		`"2026-01-02T03:04:05+02:00"`: time.Date(2026, 1, 2, 1, 4, 5, 0, time.UTC),
		`"yesterday"`:                 {}, `5`: {}, `null`: {}, ``: {},
	} {
		for _, definition := range []string{`{"active":true,"api_id":"a"}`, `{"active":false,"api_id":"a"}`} {
			e := doc.Object{}.Edit()
			e.Set("api_definition", json.RawMessage(definition))
			if created != "" {
				e.Set("created_at", json.RawMessage(created))
			}
			if got := feed.API(e.Object(), hooks(t)); !got.Since.Equal(want) || got.Name != "a" {
				t.Errorf("%s: %s since %v", created, got.Name, got.Since)
			}
		}
	}
}

// TestNoDocument: a record without a document has no problems.
func TestNoDocument(t *testing.T) {
	for text, wrong := range map[string]bool{`null`: false, `{}`: false, `[]`: true, `5`: true} {
		n := doctest.Node(t, text)
		if problems := feed.Document(n); (problems != nil) != wrong {
			t.Errorf("%s: %v", text, problems)
		}
	}
}
