package tryout

import (
	"bytes"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Protocols are those in which gateways are asked for subscriptions to what a GraphQL
// schema tells: that of the GraphQL over WebSocket draft, and the one before it, which
// older gateways speak.
var Protocols = []string{newer, "graphql-ws"}

const newer = "graphql-transport-ws"

// CheckSubscription returns what is wrong with a call that asks for a subscription.
func (c Call) CheckSubscription() error {
	if err := c.Check(); err != nil {
		return err
	}
	var asked struct {
		Query string `json:"query"`
	}
	if json.Unmarshal([]byte(c.Body), &asked) != nil || asked.Query == "" {
		var wrong table.Problems
		wrong.Invalid("Body")
		return wrong.Err()
	}
	return nil
}

// Subscription is the client's half of a conversation in one of Protocols. It asks for one
// subscription and is over with it.
type Subscription struct {
	newer, begun bool
	asked        json.RawMessage
}

// Subscribe returns the conversation in which a subscription is asked for: asked is what
// the body of a query over HTTP would be.
func Subscribe(protocol string, asked []byte) *Subscription {
	return &Subscription{newer: protocol != Protocols[1], asked: asked}
}

// message is one message of either side.
type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

func (m message) text() []byte {
	text, _ := json.Marshal(m) // its payload is JSON
	return text
}

// Begin returns the first message to send.
func (*Subscription) Begin() []byte {
	return message{Type: "connection_init", Payload: json.RawMessage("{}")}.text()
}

// Hear takes a message of the gateway. It returns what to answer and what to show, if
// anything, and whether the subscription is over.
func (s *Subscription) Hear(text []byte) (answer []byte, shown Event, over bool) {
	var m message
	if json.Unmarshal(text, &m) != nil {
		return nil, foreign, true
	}
	if len(m.Payload) > maxShown {
		return nil, TooLarge, true
	}
	switch m.Type {
	case "connection_ack":
		if s.begun {
			return nil, nil, false
		}
		s.begun = true
		ask := message{ID: "1", Type: "subscribe", Payload: s.asked}
		if !s.newer {
			ask.Type = "start"
		}
		return ask.text(), nil, false
	case "ping":
		return message{Type: "pong"}.text(), nil, false
	case "pong", "ka":
		return nil, nil, false
	case "next", "data":
		return nil, event("next", m.Payload), false
	case "error", "connection_error":
		return nil, event("error", m.Payload), true
	case "complete":
		return nil, event("complete", nil), true
	}
	return nil, foreign, true
}

// Event is what a page hears of a subscription, as server-sent events have it (HTML,
// 9.2.5).
type Event []byte

// Pulse is a comment, which pages pass over: it keeps the connection open.
var Pulse = Event(":\n\n")

// TooLarge tells a page that the subscription is over because of a large message.
var TooLarge = Failed("A message is too large to be shown here.")

var foreign = Failed("The gateway sends something else than GraphQL.")

// event returns an event of some name.
func event(name string, data json.RawMessage) Event {
	b := bytes.NewBufferString("event: " + name + "\ndata: ")
	if len(data) == 0 {
		data = json.RawMessage("null")
	}
	_ = json.Compact(b, data) // a payload is JSON; without line ends it is one line
	b.WriteString("\n\n")
	return b.Bytes()
}

// Failed tells a page why there is nothing more.
func Failed(why string) Event {
	text, _ := json.Marshal([]map[string]string{{"message": why}}) // texts are JSON
	return event("error", text)
}
