package intents

import (
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/intent"
)

// Written returns the subjects that an intent has changed in other systems; the
// argument is its document. ok is false until the intent is done: an operator who
// retries it or gives it up changes the intent itself.
func Written(document []byte) (written []audit.Subject, ok bool) {
	var in intent.Intent
	if json.Unmarshal(document, &in) != nil || in.State != intent.Done {
		return nil, false
	}
	if in.Did != "" {
		written = append(written, audit.Subject{Op: in.Did, Kind: in.Subject.Kind, ID: in.Subject.ID})
	}
	return written, true
}
