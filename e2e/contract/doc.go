// Package contract puts the whole table of operations under test over HTTP, as a
// client would see it: generated requests, good and bad, are sent to a service in
// this process, and each answer is held against the service's own description
// and, when GATEHOUSE_CONTRACT_DIR names the folder that has it, against the API
// description that the vendor publishes (docs/wire/README.md#published-files). What
// this file says that is known to be wrong is listed with the reason in known_test.go.
//
// GATEHOUSE_E2E_LONG=1 asks for the long form, of a million random requests.
package contract
