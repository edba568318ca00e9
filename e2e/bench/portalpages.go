package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/render"
	pages "github.com/gatehouse-io/gatehouse/adapters/web/portal"
	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
)

// pageSize is the size of the portal whose pages are measured.
type pageSize struct{ products, developers, posts int }

const (
	pageReaders = 50 // users who open a page, read it, and open another one
	pagePause   = 250 * time.Millisecond
	pageCores   = 2
	pagePass    = "bench-password" // password of all users
	mostTime    = 25               // milliseconds, p99
	mostWeight  = 60               // kilobytes, compressed
)

// measured are the measured pages.
var measured = []struct{ name, path string }{
	{"home", "/"}, {"catalogue", "/portal/catalogue-products"}, {"search", "/portal/catalogue-products?search=payments+refund"}, {"product", "/portal/catalogue-products/product-7"},
	{"documentation", "/portal/catalogue-products/product-7/main/docs"}, {"blog", "/blog"}, {"content", "/about-us"}, {"login", "/auth/password/login"},
	{"profile", "/portal/private/profile"}, {"team", "/portal/private/users"},
}

// showroom is a portal with its pages, and logged-in users.
type showroom struct {
	*app.App
	token   string
	cookies []string
}

func portalPageRows(ctx context.Context, b *bench) (rows []row, err error) {
	size := pageSize{1_000, 10_000, 200}
	if b.short {
		size = pageSize{100, 100, 20}
	}
	s, err := newShowroom(ctx, size, pageReaders)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Stop(context.WithoutCancel(ctx))) }()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(pageCores))
	for _, p := range measured {
		all, err := s.read(ctx, b.turn, p.path)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", p.name, err)
		}
		alone, err := s.alone(p.path)
		if err != nil {
			return rows, err
		}
		weight, err := s.weight(p.path)
		if err != nil {
			return rows, err
		}
		p50, p99 := 1e3*median(all), 1e3*percentile(all, 0.99)
		rows = append(rows,
			row{figure: p.name + ": server time, median", value: significant(p50), unit: "ms"},
			row{id: "portal-pages/" + p.name, figure: p.name + ": server time, p99", value: significant(p99), unit: "ms", aim: atMost(p99, mostTime, "ms")},
			row{figure: p.name + ": made alone", value: significant(alone), unit: "ms"},
			row{figure: p.name + ": weight with the style sheet, compressed", value: significant(weight), unit: "kB", aim: atMost(weight, mostWeight, "kB")})
	}
	return rows, nil
}

// newShowroom fills a portal.
func newShowroom(ctx context.Context, size pageSize, readers int) (*showroom, error) {
	keys, err := crypto.NewKeys("secret-of-the-benchmark-for-access-keys")
	if err != nil {
		return nil, err
	}
	a, err := app.New(app.WithLogger(quiet()), app.WithKeys(keys), app.WithPasswords(crypto.Passwords{Iterations: 1}), app.WithPortal(app.Portal{
		Shared: true, SigningKey: "a signing key", Live: live.Settings{Delay: -1}, Themes: themes.Settings{Engine: render.Engine{}},
		Pages: func(p app.Pages) func(http.Handler) http.Handler {
			return pages.Front(pages.Config{Engine: render.Engine{}, YAML: yaml.Codec{}, Theme: p.Theme, Standard: themes.Standard(), Alone: true, Room: p.Room, Visitor: p.Visitor, Log: quiet()})
		},
	}))
	if err != nil {
		return nil, err
	}
	if err := a.Start(ctx); err != nil {
		return nil, err
	}
	s := &showroom{App: a}
	if err := s.fill(size, readers); err != nil {
		return nil, errors.Join(err, a.Stop(ctx))
	}
	return s, nil
}

func (s *showroom) fill(size pageSize, readers int) error {
	var first struct {
		Data struct {
			Token string `json:"api_token"`
		} `json:"data"`
	}
	text, err := s.ask("POST", "/portal-api/bootstrap", `{"username":"admin@example.com","password":"`+pagePass+`"}`)
	if err != nil || json.Unmarshal(text, &first) != nil {
		return fmt.Errorf("bootstrap: %w %s", err, text)
	}
	s.token = first.Data.Token
	for _, part := range []struct {
		n    int
		path string
		body func(i int) string
	}{
		{size.products, "/portal-api/products", func(i int) string {
			return fmt.Sprintf(`{"Name":"product-%d","DisplayName":"Product %d for payments","Path":"product-%d","Description":"Takes payments in %d currencies, and gives refunds within a day.","Content":"<p>%s</p>","IsDocumentationOnly":true,"Feature":%v,"Catalogues":[1],"SpecDetails":[{"SpecAlias":"main","Name":"Payments"}]}`,
				i, i, i, i, strings.Repeat("How to take a payment. ", 40), i < 6)
		}},
		{size.developers, "/portal-api/users", func(i int) string {
			return fmt.Sprintf(`{"Email":"dev-%d@example.com","First":"Dev","Last":"Number %d","Password":%q,"Role":"consumer-team-member","Active":true}`, i, i, pagePass)
		}},
		{size.posts, "/portal-api/posts", func(i int) string {
			return fmt.Sprintf(`{"Title":"News %d","Lede":"In short","Content":"<p>%s</p>","Path":"news-%d","Status":"published"}`, i, strings.Repeat("News of the day. ", 60), i)
		}},
	} {
		for i := range part.n {
			if answer, err := s.ask("POST", part.path, part.body(i)); err != nil {
				return fmt.Errorf("%s: %w: %s", part.path, err, answer)
			}
		}
	}
	if err := s.describe("/portal-api/products/8/spec-details/8/oas"); err != nil {
		return err
	}
	for i := range readers {
		cookie, err := s.login(fmt.Sprintf("dev-%d@example.com", i))
		if err != nil {
			return err
		}
		s.cookies = append(s.cookies, cookie)
	}
	return nil
}

// ask calls the API as the admin.
func (s *showroom) ask(method, path, body string) ([]byte, error) {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.Header.Set("Authorization", s.token)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	if w.Code >= 300 {
		return w.Body.Bytes(), fmt.Errorf("%s %s: answer %d", method, path, w.Code)
	}
	return w.Body.Bytes(), nil
}

// describe uploads a description of 20 operations.
func (s *showroom) describe(path string) error {
	var spec, body bytes.Buffer
	spec.WriteString("openapi: 3.0.3\ninfo: {title: Payments, version: '1'}\npaths:\n")
	for i := range 20 {
		fmt.Fprintf(&spec, "  /payments/%d: {post: {summary: Take payment %d, parameters: [{name: id, in: query, schema: {type: string}}], requestBody: {content: {application/json: {schema: {type: object, properties: {amount: {type: integer}}}}}}, responses: {'200': {description: Done}}}}\n", i, i)
	}
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", "payments.yaml")
	if err == nil {
		_, err = file.Write(spec.Bytes())
	}
	if err = errors.Join(err, form.Close()); err != nil {
		return err
	}
	req := httptest.NewRequest("POST", path, &body)
	req.Header.Set("Authorization", s.token)
	req.Header.Set("Content-Type", form.FormDataContentType())
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, req); w.Code >= 300 {
		return fmt.Errorf("%s: answer %d: %s", path, w.Code, w.Body)
	}
	return nil
}

var formToken = regexp.MustCompile(`name="csrf_token" value="([^"]*)"`)

// login returns the cookies of a logged-in browser.
func (s *showroom) login(email string) (string, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	at := &url.URL{Scheme: "http", Host: "portal.example", Path: "/auth/password/login"}
	visit := func(method, body string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, at.String(), strings.NewReader(body))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range jar.Cookies(at) {
			req.AddCookie(c)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		jar.SetCookies(at, w.Result().Cookies())
		return w
	}
	proof := formToken.FindStringSubmatch(visit("GET", "").Body.String())
	if proof == nil {
		return "", errors.New("the login has no form")
	}
	if w := visit("POST", url.Values{"csrf_token": proof[1:], "login": {email}, "password": {pagePass}}.Encode()); w.Code != http.StatusSeeOther {
		return "", fmt.Errorf("login of %s: answer %d", email, w.Code)
	}
	var out []string
	for _, c := range jar.Cookies(at) {
		out = append(out, c.Name+"="+c.Value)
	}
	return strings.Join(out, "; "), nil
}

// open requests a page for a reader.
func (s *showroom) open(reader int, path string) (*httptest.ResponseRecorder, error) {
	req := httptest.NewRequest("GET", path, nil)
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("Cookie", s.cookies[reader])
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	if w.Code != http.StatusOK {
		return w, fmt.Errorf("%s: answer %d", path, w.Code)
	}
	return w, nil
}

// read makes all readers open a page repeatedly, and returns the time of each.
func (s *showroom) read(ctx context.Context, turn time.Duration, path string) (all []float64, err error) {
	var readers sync.WaitGroup
	var mu sync.Mutex
	until := time.Now().Add(3 * turn)
	for i := range s.cookies {
		readers.Go(func() {
			var own []float64
			var failure error
			for failure == nil && ctx.Err() == nil && (own == nil || time.Now().Before(until)) { // at least once
				time.Sleep(rand.N(2 * pagePause)) // simulates reading
				began := time.Now()
				_, failure = s.open(i, path)
				own = append(own, time.Since(began).Seconds())
			}
			mu.Lock()
			defer mu.Unlock()
			all, err = append(all, own...), errors.Join(err, failure)
		})
	}
	readers.Wait()
	return all, errors.Join(err, ctx.Err())
}

// alone returns the milliseconds for a page without other load.
func (s *showroom) alone(path string) (float64, error) {
	var all []float64
	for range 50 {
		began := time.Now()
		if _, err := s.open(0, path); err != nil {
			return 0, err
		}
		all = append(all, 1e3*time.Since(began).Seconds())
	}
	return median(all), nil
}

var linked = regexp.MustCompile(`(?:href|src)="(/assets/[^"]*)"`)

// weight returns the kilobytes that a browser loads for a page on the first visit.
func (s *showroom) weight(path string) (float64, error) {
	w, err := s.open(0, path)
	if err != nil {
		return 0, err
	}
	req := httptest.NewRequest("GET", path, nil)
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Cookie", s.cookies[0])
	plain := httptest.NewRecorder()
	s.ServeHTTP(plain, req)
	text, err := io.ReadAll(plain.Body)
	size, seen := w.Body.Len(), map[string]bool{}
	for _, m := range linked.FindAllStringSubmatch(string(text), -1) {
		if seen[m[1]] || err != nil {
			continue
		}
		seen[m[1]] = true
		var a *httptest.ResponseRecorder
		a, err = s.open(0, m[1])
		size += a.Body.Len()
	}
	return float64(size) / 1e3, err
}
