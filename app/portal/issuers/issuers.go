// Package issuers has the issuers of credentials, one per authentication method: their
// interface to sagas, and the implementations for gateway keys and clients
// (docs/wire/portal-apps.md#issuers).
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

// Act is an action on a credential.
type Act string

// The acts.
const (
	Issue  Act = "issue"  // it is created
	Change Act = "change" // its products change, or the app has changed
	Rotate Act = "rotate" // a new value replaces the old one
	Revoke Act = "revoke" // it loses all access
	Renew  Act = "renew"  // it gets another certificate, or none
	Follow Act = "follow" // the redirect addresses of the app have changed
	Spread Act = "spread" // its certificate follows changes of its products' APIs
	// Restore adds its certificates again where they are missing.
	Restore Act = "restore"
)

// KeepsValues reports whether an act keeps the values of a credential, and changes only the
// dashboard.
func (a Act) KeepsValues() bool { return a == Spread || a == Restore }

// Issuer issues the credentials of one method of authentication.
type Issuer interface {
	// Prepare completes a grant before its saga is stored: it looks up what the steps need,
	// makes random identifiers, and refuses what cannot be done with an Invalid fault. It
	// makes no calls, and stores nothing. For Revoke it needs little: the products of the
	// credential may be gone.
	Prepare(ctx context.Context, r store.Reader, act Act, g *Grant) error
	// Steps returns the steps of an act. They depend only on the grant, can be repeated, and
	// write the result to the grant's Values; see intents.Step for undoing, and for notes that
	// later attempts need. An Invalid fault, or an error that wraps dashboard.ErrRefused, ends
	// the saga and undoes it; other errors are retried. An object that is gone elsewhere
	// counts as revoked.
	Steps(org tenant.ID, act Act, g *Grant) []intents.Step
	// Discard returns the steps that revoke the replaced value after a rotation has stored the
	// new one; nil: there is nothing to revoke.
	Discard(org tenant.ID, g *Grant) []intents.Step
}

// Scoped is an Issuer of clients with scopes of products and plans.
type Scoped interface {
	Issuer
	// Outdated reports whether the client of a grant has other scopes than its products and
	// its plan have by now, and at which identity provider it is. The grant needs no secrets.
	Outdated(ctx context.Context, r store.Reader, g *Grant) (at table.ID, is bool, err error)
	// Answers fails if an identity provider does not answer: a saga that begins anyway would
	// keep apps locked.
	Answers(ctx context.Context, scope tenant.Scope, at table.ID) error
}

// Grant is a credential with the data it is made from. It is stored, sealed, with its saga.
type Grant struct {
	App         application.App
	Bearer      credential.Bearer
	Request     table.ID
	Provider    table.ID // the dashboard
	Products    []Product
	Plan        Plan
	ClientType  table.ID
	IdP         table.ID          // to which the client type must belong; 0: any
	Formerly    application.App   // App before the change
	Earlier     Plan              // Plan before the change
	Grows       bool              // it gets more access, or another plan
	Chosen      string            // the text of the new key; "": random
	Credential  table.ID          // 0: it is being issued
	Serial      store.Serial      // of the record when it was read
	Was         credential.Values // the stored values
	Before      []Product         // the products before the change
	Renewal     bool              // the certificate changes
	Certificate Certificate       // the client certificate; the zero value: none
	Values      credential.Values // the result; initially Was
	At          time.Time         // when the act began
	Memo        json.RawMessage   `json:",omitempty"` // data of the issuer
}

// Product is a product of a credential, as issuers need it.
type Product struct {
	ID     table.ID
	Policy string   // as named in keys and mappings
	Ref    sync.Ref `json:",omitzero"` // of the policy
	APIs   []string
	Scopes []string
	Bind   bool // keys are bound to the certificate
	// Managed says that administrators choose the certificates.
	Managed bool
	// Away says that the product was deleted, or that its policy is gone.
	Away bool `json:",omitempty"`
}

// Certificate is a client certificate that is being put to use.
type Certificate struct {
	PEM         string
	Name        string // the developer's name for it; "": none
	Fingerprint string
	Fresh       bool     // it was not in the dashboard's store
	Missing     []string // APIs that did not accept it
	// For managed certificates: what was missing on the allow lists; valid if Looked is true.
	Looked bool                  `json:",omitempty"`
	Lacked []credential.Standing `json:",omitempty"`
}

// Plan is a plan, as issuers need it.
type Plan struct {
	ID           table.ID
	Policy       string
	Ref          sync.Ref `json:",omitzero"`
	Scopes       []string
	KeyExpiresIn int64
}

// Policies returns the policies of products and of the plan, in order.
func (g *Grant) Policies(list []Product) []string {
	ids := make([]string, 0, len(list))
	for _, p := range list {
		ids = append(ids, p.Policy)
	}
	return credential.Policies(ids, g.Plan.Policy)
}

// Issuers maps methods to issuers.
type Issuers map[string]Issuer

// Names of issuers.
const (
	Tokens       = "token"        // keys of gateways
	Certified    = "certificate"  // keys of gateways, for clients with a certificate
	Registration = "registration" // clients registered with an identity provider
	Client       = "client"       // clients of the gateways' authorisation server
	Nothing      = ""             // no issuer: the developer has the credentials
)
