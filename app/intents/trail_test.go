package intents_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/intent"
)

// TestWritten states what the audit trail has about changes of an intent: the subjects
// in other systems once it is done, and the intent itself when an operator changes it.
func TestWritten(t *testing.T) {
	for _, c := range []struct {
		state intent.State
		did   string
		want  string
	}{
		{intent.Done, "created", "[{created key hash}] true"}, {intent.Done, "", "[] true"},
		{intent.Open, "", "[] false"}, {intent.Abandoned, "", "[] false"},
	} {
		in := intent.Begin("i", "org", "keys.create", intent.Subject{Kind: "key", ID: "hash"}, intent.By{}, time.Unix(0, 0))
		in.State, in.Did = c.state, c.did
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		written, ok := intents.Written(text)
		if got := fmt.Sprint(written, " ", ok); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.state, c.did, got, c.want)
		}
	}
	if written, ok := intents.Written(nil); ok || written != nil {
		t.Error("a document that is not known says what was written")
	}
}
