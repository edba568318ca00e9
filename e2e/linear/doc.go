// Package linear tests that Gatehouse is linearizable per record: whatever many
// clients do to the same identity providers at once, over HTTP and on any
// replica, every answer is one that some order of all requests explains, an
// order that never puts a request before one that had been answered when it
// began.
//
// The tests record histories of concurrent requests on every back end and let
// porcupine look for such an order. They also show that the search finds
// something: builds with one guard removed are rejected.
//
// Requests are drawn from a seed, which each test logs; -seed or
// GATEHOUSE_TEST_SEED draws the same ones again. GATEHOUSE_E2E_LONG=1 records a
// hundred times as many. The evidence for a failure goes to the artifact folder
// of the test, which -artifacts keeps.
package linear
