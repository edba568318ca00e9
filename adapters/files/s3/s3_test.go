package s3_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/files/s3"
	"github.com/gatehouse-io/gatehouse/adapters/files/s3/s3test"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/ports/files"
	"github.com/gatehouse-io/gatehouse/ports/files/filestest"
	"github.com/gatehouse-io/gatehouse/ports/load"
)

func config(s *s3test.Server) s3.Config {
	return s3.Config{AccessKey: s3test.AccessKey, SecretKey: s3test.SecretKey, Region: s3test.Region, Endpoint: s.URL, Bucket: s3test.Bucket, Transport: s.Client().Transport}
}

func open(t *testing.T, c s3.Config) *s3.Storage {
	t.Helper()
	out, err := s3.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestStorage runs the suite of all storages against a server that checks signatures.
func TestStorage(t *testing.T) {
	s := s3test.New(t)
	filestest.Run(t, open(t, config(s)))
	if n := s.Refused(); n != 0 {
		t.Errorf("%d calls were not signed as they should be", n)
	}
}

// TestACL states that objects have the ACL of the settings, or that of the bucket.
func TestACL(t *testing.T) {
	for _, acl := range []string{"", "private", "public-read"} {
		s := s3test.New(t)
		c := config(s)
		c.ACL = acl
		if _, err := open(t, c).Keep(t.Context(), "default/products/1.png", []byte("x")); err != nil {
			t.Fatal(err)
		}
		if have := s.Objects()["default/products/1.png"]; have.ACL != acl || string(have.Content) != "x" {
			t.Errorf("%+v", have)
		}
	}
}

// TestLinks states that a link gives access without credentials, that a changed link does
// not, and that there are links only if the settings say so.
func TestLinks(t *testing.T) {
	s := s3test.New(t)
	c := config(s)
	if link, err := open(t, c).Link(t.Context(), file.Place{Name: "a/b.png"}, "image/png", time.Minute); link != "" || err != nil {
		t.Errorf("%q, %v", link, err)
	}
	c.Links = true
	storage := open(t, c)
	kept, err := storage.Keep(t.Context(), "a/b.png", []byte("picture"))
	if err != nil {
		t.Fatal(err)
	}
	link, err := storage.Link(t.Context(), kept.Place, "image/png", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{link: "200 image/png picture", strings.Replace(link, "b.png", "c.png", 1): "403 application/xml"} {
		answer, err := s.Client().Get(at)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if have := strings.Fields(answer.Status)[0] + " " + answer.Header.Get("Content-Type") + " " + string(text); !strings.HasPrefix(have, want) {
			t.Errorf("%s: %s", at, have)
		}
	}
	if at := storage.Origin(); at != s.URL || open(t, config(s)).Origin() != "" {
		t.Errorf("links are at %q", at)
	}
	for _, c := range []s3.Config{{Region: "eu-west-1"}, {}} { // the address of Amazon: no call is needed to find it
		c.AccessKey, c.SecretKey, c.Bucket, c.Links = "a", "b", "pictures", true
		amazon, err := s3.New(c)
		if c.Region == "" && (err == nil || !strings.Contains(err.Error(), "S3.Region")) || c.Region != "" && (err != nil || !strings.HasPrefix(amazon.Origin(), "https://pictures.s3.") || !strings.HasSuffix(amazon.Origin(), "eu-west-1.amazonaws.com")) {
			t.Errorf("%+v: %v", amazon, err)
		}
	}
	if strings.Contains(link, s3test.SecretKey) {
		t.Error("a link tells the secret key")
	}
}

// TestTrouble states that an unavailable storage, or one that refuses the credentials, is
// a temporary fault, whose text contains neither keys nor buckets.
func TestTrouble(t *testing.T) {
	s := s3test.New(t)
	wrong := config(s)
	wrong.SecretKey = "another"
	_, err := open(t, wrong).Keep(t.Context(), "a/b.png", []byte("x"))
	s.Fail(http.StatusForbidden)
	_, away := open(t, config(s)).Open(t.Context(), file.Content{Place: file.Place{Name: "a/b.png", Size: 1}})
	for _, err := range []error{err, away} {
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Unavailable || strings.Contains(f.Message, s3test.Bucket) || errors.Is(err, files.ErrAbsent) {
			t.Errorf("%v", err)
		}
	}
	s.Fail(0)
	s.Put("a/b.png", make([]byte, 1<<20))
	if _, err := open(t, config(s)).Open(t.Context(), file.Content{Place: file.Place{Name: "a/b.png", Size: 1}}); !errors.Is(err, files.ErrDamaged) {
		t.Errorf("an object that grew: %v", err)
	}
}

// during calls a function before each round trip.
type during struct {
	next http.RoundTripper
	call func()
}

func (d during) RoundTrip(r *http.Request) (*http.Response, error) {
	d.call()
	return d.next.RoundTrip(r)
}

// TestTurn states that other visitors get the turn while a file comes from the storage.
func TestTurn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one processor for visitors
	s := s3test.New(t)
	s.Put("a/b.png", []byte("picture"))
	room := load.NewRoom(0, nil)
	ctx, page := room.Begin(t.Context())
	defer page.End()
	if err := page.Visit(ctx, "a page"); err != nil {
		t.Fatal(err)
	}
	calls := 0
	c := config(s)
	c.Transport = during{c.Transport, func() {
		calls++
		_, other := room.Begin(t.Context())
		defer other.End()
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := other.Visit(soon, "another page"); err != nil {
			t.Error("the page keeps its turn:", err)
		}
	}}
	if _, err := open(t, c).Open(ctx, file.Content{Place: file.Place{Name: "a/b.png", Size: 7}}); err != nil || calls == 0 {
		t.Errorf("%d calls: %v", calls, err)
	}
}

// TestConfig states which settings a bucket needs.
func TestConfig(t *testing.T) {
	s := s3test.New(t)
	for setting, spoil := range map[string]func(*s3.Config){
		"S3.AccessKey": func(c *s3.Config) { c.AccessKey = "" }, "S3.SecretKey": func(c *s3.Config) { c.SecretKey = "" }, "S3.Bucket": func(c *s3.Config) { c.Bucket = "" },
		"S3.Endpoint": func(c *s3.Config) { c.Endpoint = "ftp://x" },
	} {
		c := config(s)
		spoil(&c)
		if _, err := s3.New(c); err == nil || !strings.HasPrefix(err.Error(), setting+": ") || strings.Contains(err.Error(), s3test.SecretKey) {
			t.Errorf("%s: %v", setting, err)
		}
	}
	for _, endpoint := range []string{"", "s3.example.com", "http://127.0.0.1:9000", "https://s3.example.com/"} {
		c := config(s)
		c.Endpoint = endpoint
		if _, err := s3.New(c); err != nil {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}
