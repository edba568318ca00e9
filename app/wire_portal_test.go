package app_test

import (
	"fmt"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/graphql"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/ports/secret"
)

// signingKey signs the tokens of the portal under test.
const signingKey = "a signing key of the test"

// drawn is the manieth key the first admin's token is made of: the users of the
// dashboard and the signing key that is not used come before.
const drawn = 8

// portalToken is the token of the first admin of the portal, signed with a key.
func portalToken(key string) string {
	keys, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		panic(err)
	}
	return account.Sign(key, keys.Digests(fmt.Sprintf("%032x", drawn))[0])
}

// countedKeys makes keys 1, 2, 3.
type countedKeys struct {
	secret.Keys
	next func() string
}

func (k countedKeys) NewKey() string { return k.next() }

// portalOptions run the portal beside the dashboard, with keys that are known.
func portalOptions() []app.Option {
	keys, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		panic(err)
	}
	return []app.Option{app.WithPortal(app.Portal{Shared: true, SigningKey: signingKey, GraphQL: graphql.Checker{}, MaxUpload: 60_000, Local: []string{"http://localhost:3000"}}), app.WithKeys(countedKeys{keys, apptest.Numbered("%032x")})}
}
