package asset_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/asset"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func draft(t testing.TB, text string) (d asset.Draft) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// The template is stored unchanged, with its order, spelling and white space.
func TestNew(t *testing.T) {
	for in, want := range map[string]string{
		`{"kind":"oas-template","name":"n","data":{ "z":1.0e2,"a":{} },"_id":"x","org_id":"y"}`: `{"_id":"i","id":"i","org_id":"o","kind":"oas-template","name":"n","description":"","data":{ "z":1.0e2,"a":{} },"last_updated":"2026-01-02T03:04:05Z"}`,
		`{"id":"mine","kind":"oas-template","name":"n","description":"d","data":{}}`:            `{"_id":"i","id":"mine","org_id":"o","kind":"oas-template","name":"n","description":"d","data":{},"last_updated":"2026-01-02T03:04:05Z"}`,
	} {
		a, err := asset.New("i", "o", now, draft(t, in))
		text, _ := a.AppendJSON(nil)
		if err != nil || string(text) != want {
			t.Errorf("%s became\n%s, want\n%s, %v", in, text, want, err)
		}
		var again asset.Asset
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if second, _ := again.AppendJSON(nil); string(second) != want {
			t.Errorf("loaded as %s", second)
		}
	}
}

func TestInvalid(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                      asset.CodeKind,
		`{"kind":"oas-templat"}`:  asset.CodeKind,
		`{"kind":"oas-template"}`: asset.CodeName,
		`{"kind":"oas-template","name":" ","data":{}}`:                                         asset.CodeName,
		`{"kind":"oas-template","name":"n"}`:                                                   asset.CodeData,
		`{"kind":"oas-template","name":"n","data":null}`:                                       asset.CodeData,
		`{"kind":"oas-template","name":"n","data":[]}`:                                         asset.CodeData,
		`{"kind":"oas-template","name":"n","data":"{}"}`:                                       asset.CodeData,
		`{"kind":"oas-template","name":"n","data":{},"id":"a/b"}`:                              asset.CodeID,
		`{"kind":"oas-template","name":"n","data":{},"id":".."}`:                               asset.CodeID,
		`{"kind":"oas-template","name":"n","data":{},"id":"a\nb"}`:                             asset.CodeID,
		`{"kind":"oas-template","name":"n","data":{},"id":"` + strings.Repeat("ä", 257) + `"}`: asset.CodeID,
	} {
		_, err := asset.New("i", "o", now, draft(t, in))
		if f, _ := errors.AsType[*fault.Error](err); f == nil || f.Kind != fault.Invalid || f.Code != want || f.Field == "" {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// Only an absent ID stays, and _id never changes.
func TestReplace(t *testing.T) {
	a, err := asset.New("i", "o", now, draft(t, `{"id":"mine","kind":"oas-template","name":"n","description":"d","data":{"a":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Replace(draft(t, `{"kind":"oas-template","name":"m","data":{}}`), now.Add(time.Hour))
	if err != nil || b.ID != "mine" || b.DatabaseID != "i" || b.Description != "" || string(b.Data) != "{}" || !b.Updated.After(a.Updated) {
		t.Errorf("%+v, %v", b, err)
	}
	if c, err := b.Replace(draft(t, `{"id":"new","kind":"oas-template","name":"m","data":{}}`), now); err != nil || c.ID != "new" || c.DatabaseID != "i" {
		t.Errorf("%+v, %v", c, err)
	}
	if a.Name != "n" || string(a.Data) != `{"a":1}` {
		t.Error("the asset before has changed")
	}
}

func FuzzDraft(f *testing.F) {
	f.Add(`{"kind":"oas-template","name":"n","data":{"x-tyk-api-gateway":{}}}`)
	f.Add(`{"id":"\u0000","kind":"oas-template","name":"\ud800","data":{"a":[1e400]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var d asset.Draft
		if json.Unmarshal([]byte(text), &d) != nil || doc.Check([]byte(text), 0) != nil {
			return
		}
		a, err := asset.New("i", "o", now, d)
		if err != nil {
			return
		}
		first, err := a.AppendJSON(nil)
		var again asset.Asset
		if err != nil || json.Unmarshal(first, &again) != nil {
			t.Fatalf("%s: %v", first, err)
		}
		if second, _ := again.AppendJSON(nil); string(second) != string(first) {
			t.Errorf("%s\nloaded as\n%s", first, second)
		}
	})
}
