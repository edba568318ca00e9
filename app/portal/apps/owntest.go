package apps

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Fault codes for test messages that developers send to their webhook receivers.
const (
	CodeUntested = "portal_own_apps.untested"
	CodeTestWait = "portal_own_apps.test_wait"
)

// Bounds of these messages.
const (
	testsPerMinute = 10 // of a user
	testFor        = 10 * time.Second
)

// Tested is the outcome of a test message.
type Tested struct {
	EventType    string `json:"EventType"`
	Accepted     bool   `json:"Accepted" doc:"true: the receiver responded with a status from 200 to 299."`
	Status       int    `json:"Status" doc:"Status of the receiver's response; 0: there was no response."`
	Milliseconds int64  `json:"Milliseconds"`
	Problem      string `json:"Problem" doc:"Why there was no response, or empty."`
}

type ownTesting struct {
	ownBelow
	Body struct {
		EventType string `json:"EventType" doc:"One of the subscribed event types. Default: the first one."`
	} `body:""`
}

// tests counts the test messages of users.
type tests struct {
	mu    sync.Mutex
	count session.Attempts
}

func (t *tests) begin(now time.Time, user table.ID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count.Limit == 0 {
		t.count = session.Attempts{Limit: testsPerMinute, Window: time.Minute, Room: 10_000}
	}
	wait := t.count.Take(now, user.Key())
	if wait == 0 {
		return nil
	}
	f := fault.New(fault.TooMany, CodeTestWait, "too many requests: try again later")
	f.Wait = int((wait + time.Second - 1) / time.Second)
	return f
}

// ownTest sends a test message to the receiver of an access request, in the format of
// gateways. It answers only the status: the developer may have no other way to reach the
// receiver, and must not read its answers.
func (s *Service) ownTest(ctx context.Context, in ownTesting) (out Tested, err error) {
	var user table.ID
	var at string
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		v, req, err := in.under(ctx, r)
		if err != nil {
			return err
		}
		user, at, out.EventType = v.viewer.ID, req.WebhookURL, in.Body.EventType
		if out.EventType == "" && len(req.WebhookEventTypes) > 0 {
			out.EventType = req.WebhookEventTypes[0]
		}
		var wrong table.Problems
		switch {
		case at == "":
			wrong.Blank("WebhookURL")
		case !slices.Contains(req.WebhookEventTypes, out.EventType):
			wrong.Invalid("EventType")
		}
		return wrong.Err()
	})
	switch {
	case err != nil:
		return Tested{}, err
	case s.Receivers == nil:
		return Tested{}, fault.New(fault.Invalid, CodeUntested, "messages cannot be sent from here: webhooks of the portal are switched off")
	}
	began := s.Now()
	if err := s.tests.begin(began, user); err != nil {
		return Tested{}, err
	}
	body, err := json.Marshal(map[string]any{"event": out.EventType, "test": true, "sent_at": began.UTC().Format(time.RFC3339)})
	if err != nil {
		return Tested{}, err
	}
	limited, cancel := context.WithTimeout(ctx, testFor)
	defer cancel()
	a, err := s.Receivers.Fetch(limited, fetch.Request{Method: "POST", URL: at, Header: map[string]string{"Content-Type": "application/json"}, Body: body, StatusOnly: true})
	out.Milliseconds = s.Now().Sub(began).Milliseconds()
	switch {
	case errors.Is(err, fetch.ErrPrivate):
		out.Problem = "the address is not a public one: the portal may not call it"
	case errors.Is(err, fetch.ErrUnconnected):
		out.Problem = "no connection can be made"
	case err != nil:
		out.Problem = "there is no answer"
	default:
		out.Status, out.Accepted = a.Status, a.Status >= 200 && a.Status < 300
	}
	return out, nil
}
