package app_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/files/folder"
	"github.com/gatehouse-io/gatehouse/adapters/files/record"
	"github.com/gatehouse-io/gatehouse/adapters/files/s3"
	"github.com/gatehouse-io/gatehouse/adapters/files/s3/s3test"
	"github.com/gatehouse-io/gatehouse/adapters/graphql"
	"github.com/gatehouse-io/gatehouse/adapters/render"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
	content "github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/files"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestPortalFiles states that clients see no difference between storages: pictures,
// documents and themes are answered as they were uploaded.
func TestPortalFiles(t *testing.T) {
	dir, bucket := filepath.Join(t.TempDir(), "public", "system"), s3test.New(t)
	objects, err := s3.New(s3.Config{AccessKey: s3test.AccessKey, SecretKey: s3test.SecretKey, Region: s3test.Region, Endpoint: bucket.URL, Bucket: s3test.Bucket, Transport: bucket.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		storage files.Storage
		kept    func() int
		want    int
	}{
		"db": {record.Storage{}, func() int { return 0 }, 0},
		"fs": {folder.New(dir), func() int { return countFiles(t, dir) }, 4},
		"s3": {objects, func() int { return len(bucket.Objects()) }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			send := portalWithFiles(t, c.storage)
			archive, err := theme.Pack(archived["ocean"])
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range []struct{ to, from, name, content string }{
				{"/products/1/logo", "/products/1/logo", "first.png", "\x89PNG\r\n\x1a\nfirst"},
				{"/products/1/logo", "/products/1/logo", "second.png", "\x89PNG\r\n\x1a\nsecond"},
				{"/products/1/spec-details/1/oas", "/products/1/spec-details/1/oas", "a.yaml", "openapi: 3.0.3\ninfo: {title: a, version: '1'}\npaths: {}\n"},
				{"/themes/upload", "/themes/Ocean%201.x/download", "ocean.zip", string(archive)},
			} {
				if code, text := send("POST", u.to, u.name, u.content); code != 200 {
					t.Fatal(u.to, code, text)
				}
				if code, text := send("GET", u.from, "", ""); code != 200 || text != u.content {
					t.Errorf("%s: %d %.80q", u.from, code, text)
				}
			}
			if code, text := send("POST", "/products/9/logo", "x.png", "\x89PNG\r\n\x1a\n"); code != 400 {
				t.Error(code, text)
			}
			if n := c.kept(); n != c.want {
				t.Errorf("%d files", n)
			}
		})
	}
}

// TestPortalFilesAway states the errors while the storage is unavailable, or has lost a
// file: try again, or upload again, and nothing about the storage.
func TestPortalFilesAway(t *testing.T) {
	broken := &failing{Storage: folder.New(t.TempDir())}
	send := portalWithFiles(t, broken)
	picture := "\x89PNG\r\n\x1a\npicture"
	if code, text := send("POST", "/products/1/logo", "a.png", picture); code != 200 {
		t.Fatal(code, text)
	}
	for err, want := range map[error]string{errors.New("disk full at /secret/place"): "try again later", files.ErrAbsent: "upload it again", files.ErrDamaged: "upload it again"} {
		broken.err = err
		for _, method := range []string{"GET", "POST"} {
			if code, text := send(method, "/products/1/logo", "a.png", picture); code != 503 || !strings.Contains(text, want) || strings.Contains(text, "secret") {
				t.Errorf("%s, %v: %d %s", method, err, code, text)
			}
		}
	}
	broken.err = nil
	if code, text := send("GET", "/products/1/logo", "", ""); code != 200 || text != picture {
		t.Errorf("afterwards: %d %q", code, text)
	}
}

// TestPortalLinks states that, if the settings say so, browsers fetch pictures from a
// bucket by links that are valid for minutes, except for documents, which could run
// scripts there. Programs get the bytes, visitors who do not see a product get no link,
// and errors of the bucket are not shown.
func TestPortalLinks(t *testing.T) {
	bucket := s3test.New(t)
	objects, err := s3.New(s3.Config{AccessKey: s3test.AccessKey, SecretKey: s3test.SecretKey, Region: s3test.Region, Endpoint: bucket.URL, Bucket: s3test.Bucket, Transport: bucket.Client().Transport, Links: true})
	if err != nil {
		t.Fatal(err)
	}
	a, send := portalOfFiles(t, objects)
	look := func(file string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/system/products/1/logo/"+file, nil))
		return w
	}
	const picture, document = "\x89PNG\r\n\x1a\npicture", `<svg xmlns="http://www.w3.org/2000/svg"/>`
	if code, text := send("POST", "/products/1/logo", "a.png", picture); code != 200 {
		t.Fatal(code, text)
	}
	if w := look("logo.png"); w.Code != 404 || w.Header().Get("Location") != "" {
		t.Errorf("a product that nobody may see: %d, %v", w.Code, w.Header())
	}
	for _, c := range [][3]string{{"POST", "/catalogues", `{"Name":"All","VisibilityStatus":"Public"}`}, {"PUT", "/products/1", `{"Catalogues":[1]}`}} {
		if code, text := send(c[0], c[1], "", c[2]); code >= 300 {
			t.Fatal(c[1], code, text)
		}
	}
	w := look("logo.png")
	link := w.Header().Get("Location")
	if w.Code != 307 || !strings.HasPrefix(link, bucket.URL+"/") || !strings.Contains(link, "X-Amz-Expires=300&") || w.Body.Len() > 0 || strings.Contains(link, s3test.SecretKey) {
		t.Errorf("%d %v %q", w.Code, w.Header(), w.Body)
	}
	answer, err := bucket.Client().Get(link)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if string(text) != picture || answer.Header.Get("Content-Type") != "image/png" {
		t.Errorf("%s %q", answer.Status, text)
	}
	if code, text := send("GET", "/products/1/logo", "", ""); code != 200 || text != picture {
		t.Errorf("a program: %d %q", code, text)
	}
	if code, text := send("POST", "/products/1/logo", "a.svg", document); code != 200 {
		t.Fatal(code, text)
	}
	if w := look("logo.svg"); w.Code != 200 || w.Body.String() != document || !strings.Contains(w.Header().Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("a document: %d %v %q", w.Code, w.Header(), w.Body)
	}
	scope, err := tenant.Of("portal:default")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Store().Update(t.Context(), scope, func(wr store.Writer) error { // as synchronisation does
		_, err := products.Kind.Edit(t.Context(), wr, table.ID(1).Key(), nil, func(p product.Product) (product.Product, error) {
			p.Hidden = true
			return p, nil
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if w := look("logo.svg"); w.Code != 404 {
		t.Errorf("of a product that synchronisation has hidden: %d %q", w.Code, w.Body)
	}
}

// failing is a storage that returns an error.
type failing struct {
	*folder.Storage
	err error
}

func (f *failing) Keep(ctx context.Context, name string, content []byte) (c content.Content, err error) {
	if f.err != nil {
		return c, f.err
	}
	return f.Storage.Keep(ctx, name, content)
}

func (f *failing) Open(ctx context.Context, c content.Content) ([]byte, error) {
	if f.err != nil {
		return nil, f.err
	}
	return f.Storage.Open(ctx, c)
}

// portalWithFiles returns a function that sends a file to a portal with a
// documentation-only product and a specification; without content it only reads.
func portalWithFiles(t *testing.T, s files.Storage) func(method, path, name, text string) (int, string) {
	t.Helper()
	_, send := portalOfFiles(t, s)
	return send
}

// portalOfFiles also returns the portal.
func portalOfFiles(t *testing.T, s files.Storage) (*app.App, func(method, path, name, text string) (int, string)) {
	t.Helper()
	a := service(t, nobodyWatches(), append(portalOptions(), app.WithPortal(app.Portal{Shared: true, SigningKey: signingKey, GraphQL: graphql.Checker{}, Themes: themes.Settings{Engine: render.Engine{}}, Files: s}))...)
	send := func(method, path, name, text string) (int, string) {
		t.Helper()
		var body bytes.Buffer
		r := httptest.NewRequestWithContext(t.Context(), method, "/portal-api"+path, &body)
		r.Header.Set("Authorization", callers["portal-admin"][1])
		if name != "" && method == "POST" {
			form := multipart.NewWriter(&body)
			part, err := form.CreateFormFile("file", name)
			if err == nil {
				_, err = part.Write([]byte(text))
			}
			if err = errors.Join(err, form.Close()); err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", form.FormDataContentType())
		} else {
			body.WriteString(text)
		}
		r.ContentLength = int64(body.Len())
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for _, c := range [][2]string{{"/bootstrap", `{"username":"admin@example.com","password":"secret"}`}, {"/products", `{"Name":"Docs","IsDocumentationOnly":true}`}, {"/products/1/spec-details", `{"Name":"A","SpecAlias":"a"}`}} {
		if code, text := send("POST", c[0], "", c[1]); code >= 300 {
			t.Fatal(c[0], code, text)
		}
	}
	return a, send
}

func countFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return n
}
