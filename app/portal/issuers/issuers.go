// Package issuers is how methods of authentication issue credentials: what sagas ask of
// them, and the issuer of keys (docs/wire/portal-apps.md#issuers).
package issuers

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Act is what is done with a credential.
type Act string

// The acts.
const (
	Issue  Act = "issue"  // it is made
	Change Act = "change" // it gets other products, or the app has changed
	Rotate Act = "rotate" // another value takes the place of the one before
	Revoke Act = "revoke" // it opens nothing any more
	Renew  Act = "renew"  // it gets another certificate, or none any more
	Follow Act = "follow" // the app has other addresses to which people come back
	Spread Act = "spread" // its certificate follows the APIs of its products
	// Restore puts its certificates back to where they are missing.
	Restore Act = "restore"
)

// KeepsValues reports whether an act leaves the values of a credential as they are, and
// changes only what the dashboard has of it.
func (a Act) KeepsValues() bool { return a == Spread || a == Restore }

// Issuer issues the credentials of one method of authentication.
type Issuer interface {
	// Prepare completes a grant before its saga is stored: it looks up what the steps need,
	// draws identifiers, and refuses what cannot be done, with an Invalid fault. It calls
	// nobody, and stores nothing. A credential that is revoked needs little: what it was
	// granted for may be gone.
	Prepare(ctx context.Context, r store.Reader, act Act, g *Grant) error
	// Steps returns the steps of an act. They are made of the grant alone, can be repeated,
	// and note in its Values what becomes of the credential; see intents.Step for undoing,
	// and for notes that later attempts need. Errors that are Invalid faults, or are said by
	// dashboard.ErrRefused, end the saga and undo it; others are tried again. What is gone
	// elsewhere is revoked.
	Steps(org tenant.ID, act Act, g *Grant) []intents.Step
	// Discard returns the steps that end what a rotation has replaced, when the new value is
	// stored; nil: nothing is left of it.
	Discard(org tenant.ID, g *Grant) []intents.Step
}

// Scoped is an Issuer of clients that have scopes of products and plans.
type Scoped interface {
	Issuer
	// Outdated reports whether the client of a grant, of which no secret is needed, has other
	// scopes than its products and its plan have by now, and at which identity provider it is.
	Outdated(ctx context.Context, r store.Reader, g *Grant) (at table.ID, is bool, err error)
	// Answers fails when an identity provider does not answer: what is begun there then would
	// keep apps busy.
	Answers(ctx context.Context, scope tenant.Scope, at table.ID) error
}

// Grant is a credential with what it is made for. It is stored sealed with its saga.
type Grant struct {
	App         application.App
	Bearer      credential.Bearer
	Request     table.ID
	Provider    table.ID // the dashboard
	Products    []Product
	Plan        Plan
	ClientType  table.ID
	IdP         table.ID          // that the client type has to belong to; 0: any
	Formerly    application.App   // what App was, when that changes
	Earlier     Plan              // what Plan was, when that changes
	Grows       bool              // it opens more, or under another plan
	Chosen      string            // the text of the key that is issued; "": one is drawn
	Credential  table.ID          // 0: it is issued
	Serial      store.Serial      // of the record when it was looked at
	Was         credential.Values // as it is stored
	Before      []Product         // what it opened, when that changes
	Renewal     bool              // the certificate changes
	Certificate Certificate       // with which clients come; the zero value: none
	Values      credential.Values // what becomes of it: Was at first
	At          time.Time         // when the act began
	Memo        json.RawMessage   `json:",omitempty"` // the issuer's
}

// Product is what a credential opens.
type Product struct {
	ID     table.ID
	Policy string   // as keys and mappings name it
	Ref    sync.Ref `json:",omitzero"` // of the policy
	APIs   []string
	Scopes []string
	Bind   bool // keys are bound to the certificate
	// Managed says that administrators choose the certificates.
	Managed bool
	// Away says that the product is deleted, or its policy gone.
	Away bool `json:",omitempty"`
}

// Certificate is one with which clients come, while it is put to use.
type Certificate struct {
	PEM         string
	Name        string // what its developer calls it; "": nothing
	Fingerprint string
	Fresh       bool     // the store of the dashboard did not have it
	Missing     []string // APIs that did not take it
	// Of those that administrators manage: what was missing on the lists, when Looked says so.
	Looked bool                  `json:",omitempty"`
	Lacked []credential.Standing `json:",omitempty"`
}

// Plan is under which plan.
type Plan struct {
	ID           table.ID
	Policy       string
	Ref          sync.Ref `json:",omitzero"`
	Scopes       []string
	KeyExpiresIn int64
}

// Policies are the policies of some products and of the plan, in order.
func (g *Grant) Policies(list []Product) []string {
	ids := make([]string, 0, len(list))
	for _, p := range list {
		ids = append(ids, p.Policy)
	}
	return credential.Policies(ids, g.Plan.Policy)
}

// Issuers finds the issuer of a method.
type Issuers map[string]Issuer

// Names of issuers.
const (
	Tokens       = "token"        // keys of gateways
	Certified    = "certificate"  // keys of gateways, for clients that come with a certificate
	Registration = "registration" // clients that an identity provider registers
	Client       = "client"       // clients of the authorisation server that gateways have
	Nothing      = ""             // the developer brings what is needed
)
