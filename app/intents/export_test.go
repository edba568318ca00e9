package intents

import (
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Kind is the kind of intents, for tests.
func Kind() *store.Kind[intent.Intent] { return kind }
