package identity

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/mail"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Listeners is the audience of the event_options of organisations, which name for each
// event a webhook address, a Redis channel and a mail address
// (docs/wire/deliveries.md#events-of-an-organisation).
type Listeners struct {
	Publisher deliver.Publisher // nil: no events are published in Redis
	Mail      mail.Sender       // nil: no mail is sent
}

var _ deliver.Audience = Listeners{}

// Channel is the prefix of the Redis channel on which the events of an organisation are
// published. The ID of the organisation follows.
const Channel = "gatehouse.events."

// Lanes of an event, besides the lane of its webhook, which has the name of the event.
const (
	redisLane = "/redis"
	mailLane  = "/email"
)

// Name implements deliver.Audience.
func (Listeners) Name() string { return identity.OrganisationKind }

// Lanes implements deliver.Audience.
func (l Listeners) Lanes(ctx context.Context, r store.Reader, org tenant.ID, event string) (lanes []deliver.Lane, err error) {
	o, err := organisations.Locate(ctx, r, string(org))
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	for _, way := range []string{"", redisLane, mailLane} {
		if _, ok := l.target(org, o.Value.EventOptions[event], way); ok {
			lanes = append(lanes, deliver.Lane{Name: event + way})
		}
	}
	return lanes, err
}

// told is the payload that a listener gets.
type told struct {
	Event     string    `json:"event"`
	Org       tenant.ID `json:"org_id"`
	Timestamp time.Time `json:"timestamp"`
	By        string    `json:"by"`
	Message   any       `json:"message"`
}

// Body implements deliver.Audience.
func (Listeners) Body(e deliver.Event) ([]byte, error) {
	return json.Marshal(told{e.Name, e.Org, e.At.UTC(), e.By, e.Message})
}

// Target implements deliver.Audience.
func (l Listeners) Target(ctx context.Context, r store.Reader, org tenant.ID, lane string) (deliver.Target, error) {
	o, err := organisations.Locate(ctx, r, string(org))
	if err != nil {
		return deliver.Target{}, err
	}
	event, way, _ := strings.Cut(lane, "/")
	if way != "" {
		way = "/" + way
	}
	to, ok := l.target(org, o.Value.EventOptions[event], way)
	if !ok {
		return deliver.Target{}, fault.New(fault.NotFound, missingOrganisation, "organisation %s names no receiver for %s", org, lane)
	}
	return to, nil
}

// target returns how to reach a recipient in one way. It reports whether the recipient
// has that way.
func (l Listeners) target(org tenant.ID, to identity.EventRecipient, way string) (deliver.Target, bool) {
	switch way {
	case redisLane:
		return deliver.Target{Hand: func(ctx context.Context, id string, body []byte) error {
			// The message has the ID of its delivery, so that the receiver recognises a
			// message that comes twice after a crash.
			head, _ := json.Marshal(map[string]string{"id": id})
			return l.Publisher.Publish(ctx, Channel+string(org), append(append(head[:len(head)-1], ','), body[1:]...))
		}}, to.Redis && l.Publisher != nil
	case mailLane:
		return deliver.Target{Hand: func(ctx context.Context, _ string, body []byte) error {
			// The subject has only words of our own: names that clients choose are in the text only.
			var e struct {
				Event   string
				Message struct{ Action string }
			}
			_ = json.Unmarshal(body, &e) // Body has encoded it
			if e.Message.Action == key.QuotaTrigger {
				e.Message.Action = "over a limit of its quota"
			}
			subject := map[string]string{"api_event": "An API was ", "key_event": "A key was ", "hashed_key_event": "A key was "}[e.Event]
			text := bytes.NewBufferString("This has happened in your organisation:\n\n")
			_ = json.Indent(text, body, "", "  ")
			return l.Mail.Send(ctx, mail.Message{To: to.Email, Subject: cmp.Or(subject, e.Event+" ") + e.Message.Action, Text: text.String() + "\n"})
		}}, to.Email != "" && l.Mail != nil
	default:
		t := deliver.Target{URL: to.Webhook, Secret: to.Secret}
		// Addresses are logged: the user and the password are sent as a header instead.
		if u, err := url.Parse(to.Webhook); err == nil && u.User != nil { // a text that is no address fails when it is called
			password, _ := u.User.Password()
			credentials := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
			u.User = nil
			t.URL, t.Header = u.String(), map[string]string{"Authorization": "Basic " + credentials}
		}
		return t, to.Webhook != ""
	}
}
