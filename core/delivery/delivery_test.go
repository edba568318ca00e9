package delivery_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func fresh() delivery.Delivery {
	return delivery.New("acme", "organisation", "api_event", "api_event", delivery.Origin{Revision: 7, At: start}, []byte(`{"a":1}`))
}

func TestNew(t *testing.T) {
	d := fresh()
	if d.State != delivery.Pending || d.Attempts != 0 || d.Body != `{"a":1}` || !d.Next.Equal(start) || d.Key() != "acme/organisation/api_event" || len(d.ID) != 24 {
		t.Errorf("%+v", d)
	}
	if again := fresh(); !reflect.DeepEqual(again, d) {
		t.Errorf("the same event makes %+v and %+v", d, again)
	}
	ids := map[string]bool{d.ID: true}
	for _, other := range []delivery.Delivery{
		delivery.New("other", "organisation", "api_event", "api_event", delivery.Origin{Revision: 7, At: start}, nil),
		delivery.New("acme", "portal", "api_event", "api_event", delivery.Origin{Revision: 7, At: start}, nil),
		delivery.New("acme", "organisation", "key_event", "api_event", delivery.Origin{Revision: 7, At: start}, nil),
		delivery.New("acme", "organisation", "api_event", "key_event", delivery.Origin{Revision: 7, At: start}, nil),
		delivery.New("acme", "organisation", "api_event", "api_event", delivery.Origin{Revision: 8, At: start}, nil),
		delivery.New("acme", "organisation", "api_event", "api_event", delivery.Origin{Revision: 7, Index: 1, At: start}, nil),
	} {
		if ids[other.ID] {
			t.Errorf("%+v has the identifier of another", other)
		}
		ids[other.ID] = true
	}
	if large := delivery.New("acme", "a", "l", "e", delivery.Origin{At: start}, make([]byte, delivery.MaxBody+1)); large.State != delivery.Failed || large.Body != "" || large.Error == "" {
		t.Errorf("a body that is too large: %+v", large)
	} else if _, err := large.Again(start); fault.CodeOf(err) != delivery.CodeEmpty {
		t.Errorf("nothing is sent: %v", err)
	}
}

// Places sort the deliveries of a lane by event, also with numbers above ten and sixteen.
func TestPlaces(t *testing.T) {
	last := ""
	for _, o := range []delivery.Origin{{Revision: 9, Index: 9}, {Revision: 9, Index: 10}, {Revision: 10}, {Revision: 10, Index: 70000}, {Revision: 1 << 40}} {
		d := delivery.New("acme", "a", "l", "e", o, nil)
		if d.Place <= last {
			t.Errorf("%+v comes before %s", d, last)
		}
		last = d.Place
	}
}

func TestLife(t *testing.T) {
	d := fresh()
	if _, err := d.Again(start); fault.CodeOf(err) != delivery.CodePending || fault.KindOf(err) != fault.Conflict {
		t.Errorf("pending, and sent again: %v", err)
	}
	for n := 1; n <= delivery.MaxAttempts; n++ {
		at := start.Add(time.Duration(n) * time.Minute)
		d = d.Refused(at, 503, strings.Repeat("x", 300), time.Minute)
		if d.Attempts != n || d.Status != 503 || len(d.Error) != 200 {
			t.Errorf("after %d attempts: %+v", n, d)
		}
		if rests := n == delivery.MaxAttempts; rests != (d.State == delivery.Failed) || rests != d.Next.IsZero() || rests == d.Ended.IsZero() || !rests && !d.Next.Equal(at.Add(time.Minute)) {
			t.Errorf("after %d attempts: %+v", n, d)
		}
	}
	again, err := d.Again(start.Add(time.Hour))
	if err != nil || again.State != delivery.Pending || again.Attempts != 0 || again.Error != "" || again.Status != 0 || !again.Ended.IsZero() || again.ID != d.ID || again.Place != d.Place {
		t.Errorf("%+v, %v", again, err)
	}
	if done := again.Succeeded(start, 204); done.State != delivery.Done || done.Attempts != 1 || done.Status != 204 || !done.Next.IsZero() || !done.Ended.Equal(start) {
		t.Errorf("%+v", done)
	} else if !again.Unchanged(again) || done.Unchanged(again) || again.Refused(start, 0, "", 0).Unchanged(again) {
		t.Error("what has changed is not told from what has not")
	}
}

// TestWaits: a delivery waits for its next attempt, but not for a clock that was put back.
func TestWaits(t *testing.T) {
	d := fresh()
	failed := d.Refused(start, 503, "no", time.Minute)
	for _, c := range []struct {
		name  string
		d     delivery.Delivery
		at    time.Duration
		waits time.Duration
	}{
		{"new", d, 0, 0}, {"new, and made by a clock that is ahead", d, -time.Second, 0}, {"failed", failed, 10 * time.Second, 50 * time.Second},
		{"due", failed, time.Minute, 0}, {"late", failed, time.Hour, 0}, {"failed, and the clock was put back", failed, -time.Hour, 0},
	} {
		if have := c.d.Waits(start.Add(c.at), time.Minute); have != c.waits {
			t.Errorf("%s: it waits for %v", c.name, have)
		}
	}
}

func TestPause(t *testing.T) {
	for _, c := range []struct {
		attempts int
		chance   float64
		want     time.Duration
	}{{0, 0, 4}, {1, 0, 4}, {2, 0, 8}, {3, 0, 16}, {4, 0, 32}, {1, 1, 5}, {4, 0.5, 36}, {1, 7, 5}, {1, -1, 4}, {1 << 40, 0, 128}} {
		if have := delivery.Pause(4*time.Second, c.attempts, c.chance); have != c.want*time.Second {
			t.Errorf("after %d attempts with %v: %v", c.attempts, c.chance, have)
		}
	}
}

func TestAccepted(t *testing.T) {
	for status, want := range map[int]bool{199: false, 200: true, 204: true, 299: true, 300: false, 302: false, 404: false, 500: false, 0: false} {
		if delivery.Accepted(status) != want {
			t.Error(status)
		}
	}
}

// The example of the specification of Standard Webhooks.
func TestStandardSignature(t *testing.T) {
	h := delivery.Headers("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", []byte(`{"test": 2432232314}`))
	if h[delivery.HeaderSignature] != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" || h[delivery.HeaderID] != "msg_p5jXN8AQM9LWM0D4loKWxJek" || h[delivery.HeaderTime] != "1614265330" {
		t.Error(h)
	}
}

func TestHeaders(t *testing.T) {
	sum := func(key, text string) []byte {
		m := hmac.New(sha256.New, []byte(key))
		m.Write([]byte(text))
		return m.Sum(nil)
	}
	h := delivery.Headers("id", time.Unix(5, 0), "a secret of some length", []byte("body"))
	want := map[string]string{
		"Webhook-Id": "id", "X-Event-Id": "id", "Webhook-Timestamp": "5",
		"Webhook-Signature": "v1," + base64.StdEncoding.EncodeToString(sum("a secret of some length", "id.5.body")),
		"X-Tyk-Signature":   "sha256=" + hex.EncodeToString(sum("a secret of some length", "body")),
	}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("%v", h)
	}
	if h := delivery.Headers("id", time.Unix(5, 0), "", []byte("body")); len(h) != 3 || h["X-Event-Id"] != "id" {
		t.Errorf("without a secret: %v", h)
	}
}

func TestCheckSecret(t *testing.T) {
	for secret, ok := range map[string]bool{
		"": true, "0123456789abcdef": true, "0123456789abcde": false, strings.Repeat("x", 256): true, strings.Repeat("x", 257): false,
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": true, "whsec_not base64 at all": false,
	} {
		if err := delivery.CheckSecret(secret); (err == nil) != ok || err != nil && secret != "" && strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", secret, err)
		}
	}
}

func FuzzSecret(f *testing.F) {
	f.Add("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "body")
	f.Add("whsec_=", "")
	f.Fuzz(func(t *testing.T, secret, body string) {
		h := delivery.Headers("id", start, secret, []byte(body))
		if _, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(h[delivery.HeaderSignature], "v1,")); err != nil {
			t.Error(err)
		}
		if delivery.CheckSecret(secret) == nil && secret != "" && !reflect.DeepEqual(h, delivery.Headers("id", start, secret, []byte(body))) {
			t.Error("a signature is not the same each time")
		}
	})
}
