package tryout

import (
	"bytes"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Protocols are the WebSocket protocols in which a gateway is asked for the subscriptions of a
// GraphQL schema: that of the GraphQL over WebSocket draft, and its predecessor, which older
// gateways speak.
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

// Subscription is the client side of a connection in one of Protocols. It asks for one
// subscription and then ends.
type Subscription struct {
	newer, begun bool
	asked        json.RawMessage
}

// Subscribe returns the client side of a connection that asks for a subscription. asked is the
// body that the query would have over HTTP.
func Subscribe(protocol string, asked []byte) *Subscription {
	return &Subscription{newer: protocol != Protocols[1], asked: asked}
}

// message is one message of the client or the server.
type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

func (m message) text() []byte {
	text, _ := json.Marshal(m) // the payload is JSON, so there is no error
	return text
}

// Begin returns the first message to send.
func (*Subscription) Begin() []byte {
	return message{Type: "connection_init", Payload: json.RawMessage("{}")}.text()
}

// Hear handles a message of the gateway. It returns what to answer and what to show, if
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

// Event is an event for the page about a subscription, as text of server-sent events (HTML,
// 9.2.5).
type Event []byte

// Pulse is a comment, which pages ignore: it keeps the connection open.
var Pulse = Event(":\n\n")

// TooLarge tells the page that the subscription is over because of a large message.
var TooLarge = Failed("A message is too large to be shown here.")

var foreign = Failed("The gateway sends something else than GraphQL.")

// event returns an event with a name.
func event(name string, data json.RawMessage) Event {
	b := bytes.NewBufferString("event: " + name + "\ndata: ")
	if len(data) == 0 {
		data = json.RawMessage("null")
	}
	_ = json.Compact(b, data) // a payload is JSON; compacted it has no line ends
	b.WriteString("\n\n")
	return b.Bytes()
}

// Failed tells the page why the subscription is over.
func Failed(why string) Event {
	text, _ := json.Marshal([]map[string]string{{"message": why}}) // texts can always be encoded
	return event("error", text)
}
