package keys

import (
	"encoding/json"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
)

// Events that receivers may hear of: one of every key, and one of those that gateways
// know by their hashes (docs/wire/deliveries.md#events-of-an-organisation).
const (
	Event       = "key_event"
	HashedEvent = "hashed_key_event"
)

// Teller makes the events of keys. They say what the commits say that close intents.
func Teller() intents.Teller {
	return intents.Teller{Names: []string{Event, HashedEvent}, Of: func(done intent.Intent) []deliver.Event {
		if !strings.HasPrefix(done.Action, "keys.") || done.Subject.Kind != key.Kind || len(done.Told) == 0 {
			return nil
		}
		out := []deliver.Event{{Name: Event, Message: done.Told}}
		var m message
		if json.Unmarshal(done.Told, &m) == nil && m.Hash != "" {
			out = append(out, deliver.Event{Name: HashedEvent, Message: done.Told})
		}
		return out
	}}
}
