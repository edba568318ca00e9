package intents

import (
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/intent"
)

// Written returns what an intent has written elsewhere, by its document. ok is false while it is not
// done: an operator who tries it again or gives it up changes the intent itself.
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
