package keys

import (
	"encoding/json"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
)

// The events of keys: one of every key, and one of the keys that gateways know by their
// hashes (docs/wire/deliveries.md#events-of-an-organisation).
const (
	Event       = "key_event"
	HashedEvent = "hashed_key_event"
)

// Teller makes the events of keys. Their payload is that of the commits that close
// intents.
func Teller() intents.Teller {
	return intents.Teller{Names: []string{Event, HashedEvent}, Of: func(done intent.Intent) []deliver.Event {
		told := toldOf(done)
		if len(told) == 0 {
			return nil
		}
		out := []deliver.Event{{Name: Event, Message: told}}
		var m message
		if json.Unmarshal(told, &m) == nil && m.Hash != "" {
			out = append(out, deliver.Event{Name: HashedEvent, Message: told})
		}
		return out
	}}
}

// toldOf returns the payload about the key that an intent has created, changed or
// deleted. An action on another subject that also deletes a key has it in the member
// deleted_key.
func toldOf(done intent.Intent) json.RawMessage {
	if done.Subject.Kind == key.Kind {
		if strings.HasPrefix(done.Action, "keys.") {
			return done.Told
		}
		return nil
	}
	var besides struct {
		Key json.RawMessage `json:"deleted_key"`
	}
	if json.Unmarshal(done.Told, &besides) != nil { // without a payload there is no key
		return nil
	}
	return besides.Key
}
