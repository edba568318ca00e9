# Every step of CI is a target that can be run at home. `make` prints this list.
SHELL := /bin/bash
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LINT    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
REDOCLY := @redocly/cli@2.77.0
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"
FUZZTIME ?= 30s

.PHONY: help run demo build test test/race test/short lint verify generate bench fuzz e2e cover cover/core tidy
.DEFAULT_GOAL := help

help: ## this list
	@grep -hE '^[a-z0-9/]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

build: ## bin/gatehouse: static, version stamped
	$(GO_BUILD) -o bin/gatehouse ./app/cmd/gatehouse

run: build ## the service on port 3000 and the portal on 3001, with a first admin; data in ./data
	@mkdir -p data
	@export SVC_DB_HOMEDIR=data SVC_DB_PORTAL_SERVE=own_port SVC_DB_ADMINSECRET=$${SVC_DB_ADMINSECRET:-admin-secret} SVC_DB_NODESECRET=$${SVC_DB_NODESECRET:-node-secret}; \
	  bin/gatehouse bootstrap --email admin@example.com && exec bin/gatehouse serve

demo: ## a portal and a dashboard with example products, people and traffic, in memory; prints the addresses to open
	@go run ./e2e/demo

test: ## all tests; prepares the servers that they need, and says what it does
	@bash .ci/test

test/race: ## all tests under the race detector
	go test -race ./...

test/short: ## the tests that need no server
	go test -short ./core/... ./ports/... ./adapters/memdb/... ./adapters/http/... ./app/...

lint: ## linters, import rules, and the API description
	go run $(LINT) run
	npx --yes $(REDOCLY) lint --config docs/openapi/redocly.yaml docs/openapi/management.json docs/openapi/admin.json docs/openapi/node.json docs/openapi/portal.json

generate: ## docs made from the operation table and the settings, and the files of the console
	go run ./docs/generate
	go run ./adapters/web/console/build

verify: ## what is generated is fresh, modules are tidy, the minimal embedding is small
	go run ./docs/generate -check
	go run ./adapters/web/console/build -check
	go run ./adapters/web/portal/viewers/build -check
	go mod tidy -diff
	go vet ./...
	go test -run 'TestImport|TestMinimalEmbedding' ./app

bench: ## the table of docs/benchmarks.md, measured here
	go run ./e2e/bench

fuzz: ## every fuzz target for FUZZTIME each
	@set -e; for pkg in $$(go list ./...); do \
	  for f in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$f"; go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$pkg; done; done

e2e: ## the long form: 200 crashes, long histories, containers
	GATEHOUSE_E2E_LONG=1 go test -timeout 60m -count=1 ./e2e/...

cover: ## coverage of all packages by all tests
	go test -coverprofile=cover.out -coverpkg=./core/...,./ports/...,./adapters/...,./app/... ./...
	go tool cover -func=cover.out | tail -1

cover/core: ## coverage of each package of core by its own tests: 95 % or more
	@set -o pipefail; go test -cover $$(go list ./core/... | grep -v 'test$$') | awk '{ print; name = $$1 == "ok" ? $$2 : $$1 } \
	  sub(/.*coverage: /, "") && /^[0-9]/ && $$1 + 0 < 95 { low = low "\n  " name " " $$1 } \
	  END { if (low) { print "their own tests cover less than 95 % of" low; exit 1 } }'

tidy: ## go.mod and go.sum
	go mod tidy
