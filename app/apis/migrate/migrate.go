// Package migrate converts classic APIs to OAS: in place, or with a copy that is staged
// beside the original.
package migrate

import (
	"context"
	"log/slog"
	"time"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Service migrates APIs.
type Service struct {
	APIs  *apis.Repository
	Forms *forms.Forms
	Log   *slog.Logger
	// MaxCopies bounds the size of the further versions of all APIs of one request, in
	// bytes and approximately; 0: 512 MiB.
	MaxCopies int
}

// Mode says what a migration does with the result.
type Mode string

// The modes of a migration.
const (
	DryRun  Mode = "dryRun"  // returns it
	Stage   Mode = "stage"   // stores it as a copy beside the original
	Promote Mode = "promote" // replaces the original by the staged copy
	Direct  Mode = "direct"  // replaces the original at once
)

// MigrationRequest says which APIs to migrate, and how.
type MigrationRequest struct {
	Mode     Mode     `json:"mode" oneof:"dryRun,stage,promote,direct" doc:"dryRun: the response shows the result, and nothing is stored. stage: a copy is stored beside the original. promote: the copy replaces the original. direct: the original is replaced without a copy."`
	APIIDs   []string `json:"apiIDs,omitempty" doc:"API IDs of the APIs to migrate. Send either apiIDs or all."`
	All      bool     `json:"all,omitempty" doc:"true: migrate every API that the caller may see."`
	Abort    bool     `json:"abortOnFailure,omitempty" doc:"true: stop at the first API that cannot be migrated. APIs before it stay migrated."`
	Override bool     `json:"overrideStaged,omitempty" doc:"true: replace existing staged copies. Only with stage."`
}

// MigrationResponse has the result for each API.
type MigrationResponse struct {
	Success  MigrationSuccess   `json:"success"`
	Failure  MigrationFailure   `json:"failure"`
	Skipped  MigrationSkipped   `json:"skipped"`
	Aborted  bool               `json:"abortedOnFailure"`
	Warnings []MigrationMessage `json:"warnings,omitempty" doc:"Settings that are dropped or change their meaning, for each API that has such settings."`
}

// MigrationSuccess lists the migrated APIs.
type MigrationSuccess struct {
	Count       int             `json:"count"`
	APIIDs      []string        `json:"apiIDs"`
	Staged      []StagedAPI     `json:"stagedAPIs"`
	Definitions []MigratedTexts `json:"definitions" doc:"For a dry run: the documents that would be stored."`
}

// StagedAPI names an API and its copy.
type StagedAPI struct {
	Classic string `json:"classicAPIID"`
	OAS     string `json:"oasAPIID"`
}

// MigratedTexts are the documents of an API and of its versions.
type MigratedTexts struct {
	APIID    string      `json:"apiID"`
	Base     *doc.Node   `json:"baseAPI"`
	Versions []*doc.Node `json:"versions"`
}

// MigrationFailure lists the APIs that could not be migrated.
type MigrationFailure struct {
	Count  int                `json:"count"`
	Errors []MigrationMessage `json:"errors"`
}

// MigrationMessage has messages about an API.
type MigrationMessage struct {
	APIID   string   `json:"apiID"`
	Message []string `json:"message"`
}

// MigrationSkipped lists the APIs that need no migration or cannot have one.
type MigrationSkipped struct {
	Count int          `json:"count"`
	APIs  []SkippedAPI `json:"apis"`
}

// SkippedAPI says why an API was skipped.
type SkippedAPI struct {
	APIID   string `json:"apiID"`
	Message string `json:"message"`
	Key     string `json:"key" oneof:"already_migrated,already_staged,is_tcp,is_streams,is_graphql,is_websocket,not_staged" doc:"Why the API was skipped."`
}

// emptyMigration returns a response without null.
func emptyMigration() MigrationResponse {
	return MigrationResponse{
		Success: MigrationSuccess{APIIDs: []string{}, Staged: []StagedAPI{}, Definitions: []MigratedTexts{}},
		Failure: MigrationFailure{Errors: []MigrationMessage{}},
		Skipped: MigrationSkipped{APIs: []SkippedAPI{}},
	}
}

// codeMigration is the code of the fault for an invalid request.
const codeMigration = "migration.request"

// migrationDeadline is enough for a request that migrates thousands of APIs.
const migrationDeadline = 100 * time.Second

// Operations lists the operation that migrates APIs.
func (s *Service) Operations() []operation.Operation {
	done := emptyMigration()
	done.Success.Count, done.Success.APIIDs = 1, []string{"orders"}
	done.Skipped = MigrationSkipped{Count: 1, APIs: []SkippedAPI{{APIID: "db", Message: "APIs of TCP and TLS services cannot be migrated", Key: "is_tcp"}}}
	return operation.Group{Surface: operation.Management, Name: "apis.migration", Path: "/api/apis", Tag: "APIs", Permission: access.APIs, Style: rows.Documents("apis")}.Rows(
		operation.POST("migrate", "/migrate", "Convert classic APIs to OAS", s.Migrate, operation.Faulting(codeMigration), operation.Limits(0, migrationDeadline),
			operation.Notes("Each API is migrated as a whole or not at all. It keeps its API ID, so that keys and policies keep working. "+
				"A versioned API becomes a base with one child for each further version. failure lists the APIs that cannot be migrated."),
			operation.Example(map[string]any{"mode": "direct", "apiIDs": []any{"orders", "db"}, "abortOnFailure": true}, done)),
	)
}

type migrateIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	Body  MigrationRequest `body:""`
}

// Migrate migrates APIs. It converts them before the unit of work that stores the
// results, and again in it if they have changed meanwhile.
func (s *Service) Migrate(ctx context.Context, in migrateIn) (MigrationResponse, error) {
	bad := func(field, text string) (MigrationResponse, error) {
		return MigrationResponse{}, fault.New(fault.Invalid, codeMigration, "%s", text).At(field)
	}
	switch r := in.Body; {
	case r.Mode != DryRun && r.Mode != Stage && r.Mode != Promote && r.Mode != Direct:
		return bad("mode", "mode must be one of dryRun, stage, promote, direct")
	case r.All == (len(r.APIIDs) > 0):
		return bad("apiIDs", "name APIs in apiIDs or set all to true, and not both")
	case r.Override && r.Mode != Stage:
		return bad("overrideStaged", "overrideStaged goes with the mode stage only")
	}
	m := &migration{Service: s, scope: in.Scope, request: in.Body, viewer: s.APIs.Viewer(in.Who, apidef.Classic, access.Write), now: s.APIs.Now()}
	if err := m.plan(ctx); err != nil {
		return MigrationResponse{}, err
	}
	if in.Body.Mode != DryRun {
		if err := m.store(ctx); err != nil {
			return MigrationResponse{}, err
		}
	}
	for _, w := range m.out.Warnings {
		for _, note := range w.Message {
			s.Log.Warn("migration of an API: "+note, "api_id", w.APIID, "org_id", string(in.Scope.Org()), "mode", string(in.Body.Mode))
		}
	}
	return m.out, nil
}
