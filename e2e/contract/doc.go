// Package contract tests the whole table of operations over HTTP, as clients see it.
// Generated requests, valid and invalid, are sent to a service in this process. Each
// answer is checked against the service's own description and, when
// GATEHOUSE_CONTRACT_DIR names its folder, against the API description that the vendor
// publishes (docs/wire/README.md#published-files). Known errors of the published
// description are listed with reasons in known_test.go.
//
// GATEHOUSE_E2E_LONG=1 runs a million random requests.
package contract
