package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/gateway/keyhash"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/keys"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/mail"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// channels keeps what is published, unless nobody listens.
type channels struct {
	mu   sync.Mutex
	deaf bool
	got  []string // channel, a space, message
}

func (c *channels) Publish(_ context.Context, channel string, message []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deaf {
		return errors.New("no client listens to the channel")
	}
	c.got = append(c.got, channel+" "+string(message))
	return nil
}

// listens says whether somebody listens.
func (c *channels) listens(yes bool) { c.mu.Lock(); c.deaf = !yes; c.mu.Unlock() }

// TestOtherWays: an event goes to each way that its organisation names, each with attempts
// of its own; names that clients choose stand in no subject; and what is not named gets
// nothing.
func TestOtherWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, redis, box := &listening{}, &channels{}, &mailbox{t: t, mails: make(chan mail.Message, 10)}
		a := bubbled(t, io.Discard, app.WithDeliveries(delivery.Settings{Fetcher: to}), app.WithListeners(identity.Listeners{Publisher: redis, Mail: box}))
		ask := func(method, path, as, body string) string {
			t.Helper()
			code, text := fetch(t, a, method, path, as, body)
			if code >= 300 {
				t.Fatal(method, path, code, text)
			}
			synctest.Wait()
			return text
		}
		name := func(event string) {
			ask("PUT", "/admin/organisations/org-a", "super-admin", `{"event_options":{`+event+`}}`)
		}
		api := func(method, path, name string) {
			ask(method, path, "admin", `{"api_definition":{"api_id":"orders","name":"`+name+`","use_keyless":true,"proxy":{"listen_path":"/orders/","target_url":"https://upstream.example"},"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default"}}}}}`)
		}
		name(`"key_event":{"redis":true,"email":"ops@a.example"}`)
		api("POST", "/api/apis", "Orders")
		if len(redis.got)+len(box.mails)+len(to.got) != 0 {
			t.Fatal("an event went to who is not named for it")
		}
		redis.listens(false)
		name(`"api_event":{"webhook":"https://hooks.example.com/","redis":true,"email":"ops@a.example"}`)
		api("PUT", "/api/apis/orders", "Bcc: all@a.example")
		letter := <-box.mails
		if letter.To != "ops@a.example" || letter.Subject != "An API was updated" || !strings.Contains(letter.Text, `"name": "Bcc: all@a.example"`) {
			t.Errorf("%+v", letter)
		}
		if len(to.got) != 1 || len(redis.got) != 0 {
			t.Errorf("%d by HTTP, %d by Redis", len(to.got), len(redis.got))
		}
		if list := ask("GET", "/admin/deliveries?state=pending", "super-admin", ""); !strings.Contains(list, "no client listens") || strings.Count(list, `"state":"pending"`) != 1 {
			t.Error("what was not heard is not tried again:", list)
		}
		redis.listens(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		var heard struct {
			ID, Event string
			Message   struct{ Action string }
		}
		if len(redis.got) != 1 {
			t.Fatal(redis.got)
		}
		channel, message, _ := strings.Cut(redis.got[0], " ")
		if err := json.Unmarshal([]byte(message), &heard); err != nil || channel != "gatehouse.events.org-a" || heard.ID == "" || heard.Event != "api_event" || heard.Message.Action != "updated" {
			t.Error(err, redis.got)
		}
		if list := ask("GET", "/admin/deliveries?state=done", "super-admin", ""); strings.Count(list, `"state":"done"`) != 3 || !slices.Contains(strings.Split(list, `"`), heard.ID) {
			t.Error(list)
		}
	})
}

// TestQuotaTrigger: who listens to events of keys hears of a limit that a gateway reports,
// and gets the hash of the key; nothing is stored where nobody listens, of organisations
// that do not exist, or of the key.
func TestQuotaTrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis, box := &channels{}, &mailbox{t: t, mails: make(chan mail.Message, 10)}
		a := bubbled(t, io.Discard, app.WithKeySettings(keys.Settings{Hashed: true}), app.WithDeliveries(delivery.Settings{Fetcher: &listening{}}), app.WithListeners(identity.Listeners{Publisher: redis, Mail: box}))
		report := func(org string, usage int) {
			t.Helper()
			code, text := fetch(t, a, "POST", "/system/key/quota_trigger", "node",
				fmt.Sprintf(`{"Message":"Quota trigger reached","OriginatingRequest":"","org_id":%q,"key":"org-athe-plain-key","trigger_limit":40,"usage_percentage":%d}`, org, usage))
			if code != 200 || !strings.Contains(text, `"Nonce"`) {
				t.Fatal(code, text)
			}
			synctest.Wait()
		}
		kept := func() (n int) {
			t.Helper()
			err := a.Store().View(t.Context(), tenant.Everyone("test"), func(r store.Reader) (err error) {
				n, err = r.Count(t.Context(), store.Query{Kind: "quota_trigger"})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		for _, org := range []string{"org-a", "", "org-b", "../x"} {
			report(org, 40)
		}
		if kept() != 0 {
			t.Error("a report that nobody hears is stored")
		}
		if code, text := fetch(t, a, "PUT", "/admin/organisations/org-a", "super-admin", `{"event_options":{"key_event":{"email":"ops@a.example"},"hashed_key_event":{"redis":true}}}`); code != 200 {
			t.Fatal(code, text)
		}
		for usage := range 3 { // one right after the other, and none is lost
			report("org-a", 40+usage)
		}
		if kept() != 1 {
			t.Error(kept(), "records")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(redis.got) != 3 || len(box.mails) != 3 {
			t.Fatalf("%d by Redis, %d by mail", len(redis.got), len(box.mails))
		}
		for i, got := range redis.got {
			if want := fmt.Sprintf(`"message":{"action":"quota_trigger","key_hash":%q,"trigger_limit":40,"usage_percentage":%d}`, keyhash.Of("org-athe-plain-key"), 40+i); !strings.Contains(got, want) || strings.Contains(got, "plain-key") {
				t.Errorf("%s\nwant %s", got, want)
			}
		}
		if letter := <-box.mails; letter.Subject != "A key was over a limit of its quota" {
			t.Error(letter.Subject)
		}
		if code, text := fetch(t, a, "GET", "/api/audit-logs", "admin", ""); code != 200 || strings.Contains(text, "quota") {
			t.Error(code, text)
		}
	})
}
