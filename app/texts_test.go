package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/session"
)

// described is what the tests of texts read of the API description.
type described struct {
	Paths map[string]map[string]struct {
		ID        string `json:"operationId"`
		Responses map[string]describedAnswer
	}
	Components struct {
		Responses map[string]describedAnswer
		Examples  map[string]describedText
	}
}

// describedText is an example, or the name of one.
type describedText struct {
	Ref   string `json:"$ref"`
	Value struct{ Message string }
}

type describedAnswer struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Examples map[string]describedText
	}
}

// texts returns the operation that a request is for, and what it says to answer with
// a status and a code.
func (d *described) texts(r *http.Request, status int, code string) (id string, texts []string) {
	literal, segments := -1, strings.Split(strings.Trim(r.URL.EscapedPath(), "/"), "/")
	var answer describedAnswer
	for pattern, item := range d.Paths {
		op, known := item[strings.ToLower(r.Method)]
		template := strings.Split(strings.Trim(pattern, "/"), "/")
		same := 0
		for i, s := range template {
			if i < len(segments) && s == segments[i] {
				same++
			} else if !strings.HasPrefix(s, "{") {
				same = -len(template)
			}
		}
		if known && len(template) == len(segments) && same > literal {
			literal, id, answer = same, op.ID, op.Responses[fmt.Sprint(status)]
		}
	}
	if answer.Ref != "" {
		answer = d.Components.Responses[path.Base(answer.Ref)]
	}
	for name, e := range answer.Content["application/json"].Examples {
		if name == code || strings.HasPrefix(name, code+"-") {
			if e.Ref != "" {
				e = d.Components.Examples[path.Base(e.Ref)]
			}
			texts = append(texts, e.Value.Message)
		}
	}
	return id, texts
}

// reads reports whether a text is one of those described, in which … stands for
// what differs from case to case. A text that is … alone counts only where the
// program passes on what others say.
func reads(text string, texts []string, passedOn bool) bool {
	for _, t := range texts {
		if t == "…" && !passedOn { // says nothing
			continue
		}
		parts := strings.Split(t, "…")
		for i, p := range parts {
			parts[i] = regexp.QuoteMeta(p)
		}
		if regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$").MatchString(text) {
			return true
		}
	}
	return false
}

// TestDescribedTexts: whatever a transcript shows to be refused, the description of
// the operation has with the same status, code and text. The code comes from asking
// once more for the other form of errors: a refusal changes nothing.
func TestDescribedTexts(t *testing.T) {
	var d described
	if err := json.Unmarshal(describe(t, service(t, nobodyWatches())), &d); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/wire/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a := service(t, nobodyWatches(), app.WithSessions(session.Config{Delay: -1}))
		replay(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			ask := func(w http.ResponseWriter, accept string) {
				again := r.Clone(r.Context())
				again.Body = io.NopCloser(bytes.NewReader(body))
				if accept != "" {
					again.Header.Set("Accept", accept)
				}
				a.ServeHTTP(w, again)
			}
			rec, other := httptest.NewRecorder(), httptest.NewRecorder()
			ask(rec, "")
			if rec.Code >= 400 && r.Method != "HEAD" && rec.Header().Get("Content-Type") == "application/json" {
				var answer struct{ Message string }
				var problem struct{ Code string }
				ask(other, "application/problem+json")
				if json.Unmarshal(rec.Body.Bytes(), &answer) == nil && json.Unmarshal(other.Body.Bytes(), &problem) == nil && other.Code == rec.Code {
					id, texts := d.texts(r, rec.Code, problem.Code)
					if compared++; id != "" && !reads(answer.Message, texts, problem.Code == "datagraph.download") {
						t.Errorf("%s: %s answers %d %s %q, and is described with %q", filepath.Base(file), id, rec.Code, problem.Code, answer.Message, texts)
					}
				}
			}
			w.WriteHeader(rec.Code)
			_, _ = w.Write(rec.Body.Bytes())
		}), string(text))
	}
	if compared < 500 {
		t.Errorf("only %d refusals were compared", compared)
	}
}
