// Package s3test is a small storage of objects for tests: one bucket, which checks the
// signature of every call (AWS Signature Version 4).
package s3test

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Credentials of the storage.
const (
	AccessKey = "AKIATEST"
	SecretKey = "s3cr3t-of-the-test"
	Region    = "eu-test-1"
	Bucket    = "portal-files"
)

// Object is what the storage holds under a name.
type Object struct {
	Content []byte
	ACL     string
}

// Server is the storage.
type Server struct {
	*httptest.Server
	mu      sync.Mutex
	objects map[string]Object
	fail    int // status of all answers; 0: none fails
	refused int
}

// New starts a storage, which ends with the test.
func New(t testing.TB) *Server { return start(t, httptest.NewTLSServer) }

// Plain starts one without TLS, for other processes, which do not know its certificate.
func Plain(t testing.TB) *Server { return start(t, httptest.NewServer) }

func start(t testing.TB, serve func(http.Handler) *httptest.Server) *Server {
	s := &Server{objects: map[string]Object{}}
	s.Server = serve(s)
	t.Cleanup(s.Close)
	return s
}

// Objects returns what is stored.
func (s *Server) Objects() map[string]Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Object{}
	for name, o := range s.objects {
		out[name] = o
	}
	return out
}

// Put stores a content, as another client of the bucket would.
func (s *Server) Put(name string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[name] = Object{Content: content}
}

// Fail answers all calls with a status, until it is 0.
func (s *Server) Fail(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = status
}

// Refused returns how many calls had no valid signature.
func (s *Server) Refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, found := strings.CutPrefix(r.URL.Path, "/"+Bucket+"/")
	switch err := verify(r); {
	case s.fail != 0:
		refuse(w, s.fail, "InternalError")
		return
	case err != nil:
		s.refused++
		refuse(w, http.StatusForbidden, "SignatureDoesNotMatch")
		return
	case !found:
		refuse(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	switch r.Method {
	case http.MethodPut:
		content, err := body(r)
		if err != nil {
			refuse(w, http.StatusBadRequest, "IncompleteBody")
			return
		}
		s.objects[name] = Object{content, r.Header.Get("X-Amz-Acl")}
		w.Header().Set("ETag", `"`+strconv.Itoa(len(content))+`"`)
	case http.MethodDelete:
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case http.MethodGet:
		o, there := s.objects[name]
		if !there {
			refuse(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		w.Header().Set("ETag", `"`+strconv.Itoa(len(o.Content))+`"`)
		w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Type", r.URL.Query().Get("response-content-type"))
		_, _ = w.Write(o.Content)
	default:
		refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}

// body reads the content of a request: clients may send it in signed or counted chunks.
func body(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	var out bytes.Buffer
	in := bufio.NewReader(r.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if err != nil || n == 0 {
			return out.Bytes(), err // trailers follow
		}
		if _, err := io.CopyN(&out, in, n); err != nil {
			return nil, err
		}
		if _, err := in.Discard(len("\r\n")); err != nil {
			return nil, err
		}
	}
}

var errSignature = errors.New("the signature is wrong")

// verify checks the signature of a request: in the header, or in the query of a signed
// address.
func verify(r *http.Request) error {
	q := r.URL.Query()
	if signature := q.Get("X-Amz-Signature"); signature != "" {
		q.Del("X-Amz-Signature")
		at, err := time.Parse("20060102T150405Z", q.Get("X-Amz-Date"))
		seconds, wrong := strconv.Atoi(q.Get("X-Amz-Expires"))
		if err != nil || wrong != nil || time.Since(at) > time.Duration(seconds)*time.Second {
			return errSignature
		}
		return check(r, q, q.Get("X-Amz-Credential"), q.Get("X-Amz-SignedHeaders"), signature, q.Get("X-Amz-Date"), "UNSIGNED-PAYLOAD")
	}
	parts := map[string]string{}
	for p := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		parts[key] = value
	}
	return check(r, q, parts["Credential"], parts["SignedHeaders"], parts["Signature"], r.Header.Get("X-Amz-Date"), r.Header.Get("X-Amz-Content-Sha256"))
}

func check(r *http.Request, q url.Values, credential, signed, signature, date, payload string) error {
	if len(date) < 8 || credential != AccessKey+"/"+date[:8]+"/"+Region+"/s3/aws4_request" {
		return errSignature
	}
	var headers strings.Builder
	names := strings.Split(signed, ";")
	if !slices.Contains(names, "host") || !slices.IsSorted(names) {
		return errSignature
	}
	for _, n := range names {
		value := strings.Join(r.Header.Values(n), ",")
		switch n {
		case "host":
			value = r.Host
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		headers.WriteString(n + ":" + strings.TrimSpace(value) + "\n")
	}
	request := strings.Join([]string{r.Method, r.URL.EscapedPath(), strings.ReplaceAll(q.Encode(), "+", "%20"), headers.String(), signed, payload}, "\n")
	hash := sha256.Sum256([]byte(request))
	key := []byte("AWS4" + SecretKey)
	for _, step := range []string{date[:8], Region, "s3", "aws4_request"} {
		key = sum(key, step)
	}
	text := strings.Join([]string{"AWS4-HMAC-SHA256", date, date[:8] + "/" + Region + "/s3/aws4_request", hex.EncodeToString(hash[:])}, "\n")
	if want := hex.EncodeToString(sum(key, text)); !hmac.Equal([]byte(want), []byte(signature)) {
		return errSignature
	}
	return nil
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
