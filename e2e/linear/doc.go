// Package linear tests that Gatehouse is linearizable per record: when many clients
// change the same identity providers concurrently, over HTTP and on any replica, there
// is a sequential order of all requests that explains every answer, and in which no
// request precedes one that was answered before it began.
//
// The tests record histories of concurrent requests on every back end, and porcupine
// searches for such an order. They also show that the search can fail: builds with one
// guard removed are rejected.
//
// Requests are generated from a seed, which each test logs; -seed or
// GATEHOUSE_TEST_SEED generates the same ones again. GATEHOUSE_E2E_LONG=1 records a
// hundred times as many. The evidence for a failure is written to the artifact folder
// of the test, which -artifacts keeps.
package linear
