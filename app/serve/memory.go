package serve

import (
	"os"
	"runtime/debug"
)

// frugalPercent is how much garbage may come before it is collected while large
// bodies are worked on, in percent of what is in use. Their trees are a good part
// of that for a short while: at Go's 100 they would take twice their size.
const frugalPercent = 15

// frugal trades time for memory while large bodies are worked on, unless the
// operator has said with GOGC how often to collect.
func frugal(on bool) {
	switch {
	case os.Getenv("GOGC") != "":
	case on:
		debug.SetGCPercent(frugalPercent)
	default:
		debug.SetGCPercent(100)
	}
}
