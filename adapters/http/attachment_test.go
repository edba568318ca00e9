package http_test

import (
	"context"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// keeps is a table with one row that answers the name and the content of a file.
func keeps(t *testing.T, opts ...operation.Option) nethttp.Handler {
	t.Helper()
	opts = append(opts, operation.Public(), operation.Limits(2_000, 0), operation.Example(map[string]any{"file": "a"}, map[string]any{}),
		operation.Answers(map[string]operation.Answer{"file.empty": {Status: 400, Form: operation.FailureText}, operation.CodeFiles: {Status: 400}}))
	ops := operation.Group{Surface: operation.Portal, Name: "files", Path: "/portal-api/files", Tag: "Files", Style: operation.Style{Faults: operation.PortalFaults()}}.Rows(
		operation.POST("put", "", "Keep", func(_ context.Context, in struct {
			DryRun bool                 `query:"dry_run"`
			Body   operation.Attachment `body:""`
		}) (map[string]any, error) {
			if len(in.Body.Content) == 0 {
				return nil, fault.New(fault.Invalid, "file.empty", "the file is empty").At("file")
			}
			return map[string]any{"name": in.Body.Name, "text": string(in.Body.Content), "dry": in.DryRun}, nil
		}, opts...))
	h, err := httpadapter.Handler(ops, httpadapter.Config{Logger: quiet, Guard: func(next operation.Handler) operation.Handler { return next }})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestAttachments states which forms contain a file, and the errors of others.
func TestAttachments(t *testing.T) {
	h := keeps(t)
	part := func(disposition, text string) string {
		return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + text + "\r\n"
	}
	const end, mediaType = "--b--\r\n", "multipart/form-data; boundary=b"
	file := part(`name="file"; filename="folder/a.yaml"`, "x: 1")
	for name, c := range map[string]struct {
		contentType, body string
		status            int
		want              string
	}{
		"a file":                   {mediaType, file + end, 200, `"name": "a.yaml"`},
		"a field beside it":        {mediaType, part(`name="note"`, "n") + file + end, 200, `"text": "x: 1"`},
		"no file name":             {mediaType, part(`name="file"`, "x") + end, 200, `"name": ""`},
		"empty":                    {mediaType, part(`name="file"; filename="a"`, "") + end, 400, `"the file is empty"`},
		"two files":                {mediaType, file + file + end, 400, "only one file"},
		"two files of other names": {mediaType, file + part(`name="more"; filename="b"`, "y") + end, 400, "only one file"},
		"another name":             {mediaType, part(`name="other"; filename="b"`, "y") + end, 422, "one part named file"},
		"no part":                  {mediaType, end, 422, "one part named file"},
		"not ended":                {mediaType, file, 422, "one part named file"},
		"too many parts":           {mediaType, strings.Repeat("--b\r\n\r\n\r\n", 150) + end, 422, "one part named file"},
		"no boundary":              {"multipart/form-data", file + end, 422, "one part named file"},
		"JSON":                     {"application/json", `{"file":"x"}`, 422, "one part named file"},
		"nothing":                  {"", "", 422, "one part named file"},
		"too large":                {mediaType, part(`name="file"; filename="a"`, strings.Repeat("x", 2_000)) + end, 413, "too large"},
	} {
		req := httptest.NewRequest("POST", "/portal-api/files?dry_run=true", strings.NewReader(c.body))
		req.Header.Set("Content-Type", c.contentType)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if text := w.Body.String(); w.Code != c.status || !strings.Contains(text, c.want) || c.status == 200 && !strings.Contains(text, `"dry": true`) {
			t.Errorf("%s: %d %s", name, w.Code, text)
		} else if name == "empty" && text != `"the file is empty"` {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestAnyPart states which part is the file if it may have any name.
func TestAnyPart(t *testing.T) {
	h := keeps(t, operation.AnyPart())
	part := func(disposition, text string) string {
		return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + text + "\r\n"
	}
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"another name":            {part(`name="cert"; filename="b.pem"`, "y"), 200, `"text": "y"`},
		"no file name":            {part(`name="data"`, "y"), 200, `"text": "y"`},
		"no name at all":          {"--b\r\n\r\ny\r\n", 200, `"text": "y"`},
		"a field beside it":       {part(`name="note"`, "n") + part(`name="cert"; filename="b.pem"`, "y"), 200, `"text": "y"`},
		"the usual name":          {part(`name="file"; filename="b.pem"`, "y"), 200, `"text": "y"`},
		"two files":               {part(`name="cert"; filename="a"`, "x") + part(`name="file"; filename="b"`, "y"), 400, "only one file"},
		"two parts without names": {part(`name="cert"`, "x") + part(`name="key"`, "y"), 400, "only one file"},
		"no part":                 {"", 422, "one part"},
		"too many parts":          {strings.Repeat("--b\r\n\r\n\r\n", 150), 422, "one part"},
	} {
		req := httptest.NewRequest("POST", "/portal-api/files", strings.NewReader(c.body+"--b--\r\n"))
		req.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if text := w.Body.String(); w.Code != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s", name, w.Code, text)
		}
	}
}

// FuzzOnlyFile parses arbitrary forms without panic.
func FuzzOnlyFile(f *testing.F) {
	f.Add("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nx\r\n--b--\r\n")
	f.Add("--b\r\n\r\n\r\n--b--")
	f.Fuzz(func(t *testing.T, body string) {
		h := keeps(t)
		req := httptest.NewRequest("POST", "/portal-api/files", strings.NewReader(body))
		req.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, req); w.Code != 200 && w.Code != 400 && w.Code != 413 && w.Code != 422 {
			t.Errorf("%q: %d", body, w.Code)
		}
	})
}
