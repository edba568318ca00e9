package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math"
	randv2 "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/argon2"
	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/ports/mail"
)

// question is a request that the service refuses, or answers uniformly.
type question struct {
	name   string
	make   func() *http.Request
	status int           // of the answer; 0: 401
	rest   time.Duration // pause before the next question, for work after the answer
}

// timingRows compares the times of refusals that must not reveal anything: Mann and
// Whitney's test over calls in random order. The random delay of login answers is off, so
// that the times that it hides are tested.
func timingRows(ctx context.Context, b *bench) (rows []row, err error) {
	w, err := newWorld(ctx, app.WithAdminSecret(adminSecret), app.WithPasswords(argon2.New(crypto.Passwords{})), app.WithSessions(session.Config{Delay: -1}))
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, w.stop(ctx)) }()
	key := ""
	for _, body := range []string{
		`"email_address":"known@example.com","password":"a-long-passphrase","user_permissions":{"apis":"read"}`,
		`"email_address":"inactive@example.com","password":"a-long-passphrase","active":false,"user_permissions":{"apis":"read"}`,
		`"email_address":"bare@example.com","user_permissions":{"apis":"read"}`,
	} {
		if key, err = w.ask(ctx, "POST", "/admin/users", fmt.Sprintf(`{"org_id":%q,%s}`, w.org, body)); err != nil {
			return nil, err
		}
	}
	slow, quick := 2_000, 20_000
	if b.short {
		slow, quick = 200, 2_000
	}
	logins, err := w.alike(ctx, b, slow, "login", login("an address without a user", "unknown@example.com"),
		login("wrong password of a user", "known@example.com"), login("an inactive user", "inactive@example.com"), login("a user without password", "bare@example.com"))
	if err != nil {
		return nil, err
	}
	keys, err := w.alike(ctx, b, quick, "access key", credential("a key by chance", "Authorization", func() string { return made(16) }),
		credential("31 of the 32 digits of a key", "Authorization", func() string { return key[:31] + "x" }))
	if err != nil {
		return nil, err
	}
	secrets, err := w.alike(ctx, b, quick, "admin secret", credential("a secret by chance", "Admin-Auth", func() string { return made(len(adminSecret) / 2) }),
		credential("all but the last character", "Admin-Auth", func() string { return adminSecret[:len(adminSecret)-1] + "x" }))
	if err != nil {
		return nil, err
	}
	behind, err := hiddenRows(ctx, b)
	return slices.Concat(logins, keys, secrets, behind), err
}

// older is the password of a user whose hash has the kind that logins replace.
const older = "an-older-passphrase"

// mixed hashes one password as older versions did.
type mixed struct{ *argon2.Passwords }

func (m mixed) Hash(password string) (string, error) {
	if password == older {
		return crypto.Passwords{}.Hash(password)
	}
	return m.Passwords.Hash(password)
}

// unsent accepts mails and sends none.
type unsent struct{}

func (unsent) Send(context.Context, mail.Message) error { return nil }

// hiddenRows compares answers whose time is hidden on purpose: a login waits, which covers
// the different time of older hashes, and a mail is made after the answer. Each address
// may ask for three mails, so there are many addresses.
func hiddenRows(ctx context.Context, b *bench) (rows []row, err error) {
	waits, mails := 100, 300
	if b.short {
		waits, mails = 15, 60
	}
	limits := session.Config{Mail: unsent{}, PublicURL: "http://localhost", Mails: 1 << 20}
	w, err := newWorld(ctx, app.WithAdminSecret(adminSecret), app.WithPasswords(mixed{argon2.New(crypto.Passwords{})}), app.WithSessions(limits))
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, w.stop(ctx)) }()
	user := func(email, password string) error {
		_, err := w.ask(ctx, "POST", "/admin/users", fmt.Sprintf(`{"org_id":%q,"email_address":%q,"password":%q,"user_permissions":{"apis":"read"}}`, w.org, email, password))
		return err
	}
	if err := user("older@example.com", older); err != nil {
		return nil, err
	}
	for i := range mails/3 + mails/20 {
		if err := user(fmt.Sprintf("known-%d@example.com", i), "a-long-passphrase"); err != nil {
			return nil, err
		}
	}
	logins, err := w.alike(ctx, b, waits, "login with its pause", login("an address without a user", "unknown@example.com"),
		login("wrong password of a user whose hash is of an older kind", "older@example.com"))
	if err != nil {
		return nil, err
	}
	forgotten, err := w.alike(ctx, b, mails, "forgotten password", forgetting("an address without a user", "unknown"), forgetting("an address with a user", "known"))
	return append(logins, forgotten...), err
}

// forgetting requests mails to addresses, three times for each.
func forgetting(name, prefix string) question {
	n := -1
	return question{name: name, status: http.StatusOK, rest: 3 * time.Millisecond, make: func() *http.Request {
		n++
		return httptest.NewRequest("POST", "/password/forgot", strings.NewReader(fmt.Sprintf(`{"username":"%s-%d@example.com"}`, prefix, n/3)))
	}}
}

// made returns random digits.
func made(bytes int) string {
	text := make([]byte, bytes)
	rand.Read(text)
	return hex.EncodeToString(text)
}

func login(name, email string) question {
	return question{name: name, make: func() *http.Request {
		return httptest.NewRequest("POST", "/login", strings.NewReader(fmt.Sprintf(`{"username":%q,"password":%q}`, email, made(8))))
	}}
}

func credential(name, header string, value func() string) question {
	return question{name: name, make: func() *http.Request {
		path := "/api/users/me"
		if header == "Admin-Auth" {
			path = "/admin/organisations"
		}
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set(header, value())
		return r
	}}
}

// alike sends each question n times, in random order, and compares every question with the
// first one.
func (w *world) alike(ctx context.Context, b *bench, n int, theme string, questions ...question) (rows []row, err error) {
	b.say("times of refusals: %s", theme)
	took := make([][]float64, len(questions))
	order := make([]int, len(questions))
	for i := range order {
		order[i] = i
	}
	for turn := range n + n/20 {
		randv2.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			r, rec := questions[i].make().WithContext(ctx), httptest.NewRecorder()
			began := time.Now()
			w.ServeHTTP(rec, r)
			each := time.Since(began)
			time.Sleep(questions[i].rest)
			if rec.Code != cmp.Or(questions[i].status, http.StatusUnauthorized) {
				return nil, fmt.Errorf("%s, %s: %d %s", theme, questions[i].name, rec.Code, rec.Body)
			}
			if turn >= n/20 { // the calls before are a warm-up
				took[i] = append(took[i], float64(each.Nanoseconds())/1e3)
			}
		}
	}
	for i, q := range questions[1:] {
		same, later := mannWhitney(took[0], took[i+1])
		rows = append(rows, row{id: "timing/" + theme + "/" + q.name, figure: fmt.Sprintf("%s: %s, against %s (%s of each)", theme, q.name, questions[0].name, grouped(int64(n))),
			value: significant(median(took[i+1])), unit: fmt.Sprintf("µs; p = %.3f, longer in %.1f %% of pairs", same, 100*later),
			ratios: []ratio{{median(took[i+1]) / median(took[0]), "the other"}}, aim: atLeast(same, 0.001, "p")})
	}
	return rows, nil
}

// mannWhitney returns the probability that two samples from the same distribution differ
// as much as these (two-sided, with the normal approximation, corrected for ties and
// continuity), and the probability that a value of the second is greater than one of the
// first.
func mannWhitney(first, second []float64) (p, greater float64) {
	type value struct {
		of     float64
		second bool
	}
	var all []value
	for _, v := range first {
		all = append(all, value{v, false})
	}
	for _, v := range second {
		all = append(all, value{v, true})
	}
	slices.SortFunc(all, func(a, b value) int { return cmp.Compare(a.of, b.of) })
	n, m := float64(len(first)), float64(len(second))
	ranks, ties := 0.0, 0.0
	for at := 0; at < len(all); {
		end := at
		for end < len(all) && all[end].of == all[at].of {
			end++
		}
		for _, v := range all[at:end] {
			if v.second {
				ranks += float64(at+end+1) / 2 // the mean of the ranks at+1 to end
			}
		}
		t := float64(end - at)
		ties += t*t*t - t
		at = end
	}
	u, total := ranks-m*(m+1)/2, n+m
	spread := math.Sqrt(n * m / 12 * (total + 1 - ties/(total*(total-1))))
	if spread == 0 {
		return 1, u / (n * m)
	}
	z := max(0, math.Abs(u-n*m/2)-0.5) / spread
	return math.Erfc(z / math.Sqrt2), u / (n * m)
}
