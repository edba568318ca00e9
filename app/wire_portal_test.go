package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/fetch/fetchtest"
	"github.com/gatehouse-io/gatehouse/adapters/graphql"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/render"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
	"github.com/gatehouse-io/gatehouse/app/portal/webhooks"
	core "github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	outside "github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// signingKey signs the tokens of the portal under test.
const signingKey = "a signing key of the test"

// portalSecret is what brokers of single sign-on know.
const portalSecret = "a secret of the brokers of the portal"

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
func portalOptions(more ...app.Option) []app.Option {
	keys, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		panic(err)
	}
	hooks := webhooks.Settings{Deliveries: delivery.Settings{Fetcher: answering{}}}
	return append([]app.Option{app.WithPortal(app.Portal{Shared: true, SigningKey: signingKey, SignOn: sso.Settings{Secret: portalSecret}, Webhooks: hooks, GraphQL: graphql.Checker{}, Relay: relaying{}, Reader: describing{}, Themes: themes.Settings{Engine: render.Engine{}, Path: "./themes"}, MaxUpload: 60_000, Live: live.Settings{Delay: -1}, Local: []string{"http://localhost:3000"}}), app.WithKeys(countedKeys{keys, apptest.Numbered("%032x")})}, more...)
}

// answering is a world outside in which the hosts well, broken and away are known.
type answering struct{}

func (answering) Fetch(_ context.Context, r outside.Request) (outside.Answer, error) {
	switch {
	case r.Method == "POST" && r.StatusOnly && !r.Trusted && strings.Contains(r.URL, "shop.example.com"):
		return outside.Answer{Status: 202}, nil
	case r.Method != "HEAD" || len(r.Header) > 0:
		return outside.Answer{}, outside.ErrRequest
	case strings.Contains(r.URL, "well.example"):
		return outside.Answer{Status: 204}, nil
	case strings.Contains(r.URL, "broken.example"):
		return outside.Answer{Status: 500}, nil
	}
	return outside.Answer{}, fmt.Errorf("away.example: %w", outside.ErrUnreachable)
}

// relaying is the way to a gateway that answers with what it was asked.
type relaying struct{}

func (relaying) Fetch(_ context.Context, r outside.Request) (outside.Answer, error) {
	switch {
	case !r.Still || r.Trusted:
		return outside.Answer{}, outside.ErrRequest
	case strings.HasSuffix(r.URL, "/away"):
		return outside.Answer{}, fmt.Errorf("gw.example: %w", outside.ErrUnreachable)
	case strings.HasSuffix(r.URL, "/inside"):
		return outside.Answer{}, fmt.Errorf("gw.example: %w", outside.ErrPrivate)
	case strings.HasSuffix(r.URL, "/large"):
		return outside.Answer{}, fmt.Errorf("gw.example: %w", outside.ErrTooLarge)
	}
	return outside.Answer{Status: 200, Header: map[string][]string{"Content-Type": {"text/plain"}}, Body: fmt.Appendf(nil, "%s %s more=%s key=%t", r.Method, r.URL, r.Header["X-More"], r.Header["Authorization"] != "")}, nil
}

func (relaying) Talk(ctx context.Context, r outside.Request, protocols []string) (outside.Conversation, error) {
	if a, err := (relaying{}).Fetch(ctx, r); err != nil {
		return nil, err
	} else if strings.HasSuffix(r.URL, "/odd") {
		return fetchtest.Said(protocols[1], `{"type":"connection_ack"}`, "<html>"), nil
	} else {
		result, err := json.Marshal(map[string]any{"data": string(a.Body)})
		return fetchtest.Said(protocols[0], `{"type":"connection_ack"}`, `{"type":"ping"}`, fmt.Sprintf(`{"id":"1","type":"next","payload":%s}`, result), `{"id":"1","type":"complete"}`), err
	}
}

// describing is a world outside in which pets.example has a description.
type describing struct{}

func (describing) Fetch(_ context.Context, r outside.Request) (outside.Answer, error) {
	switch {
	case r.Trusted:
		return outside.Answer{}, outside.ErrRequest
	case strings.Contains(r.URL, "pets.example"):
		return outside.Answer{Status: 200, Body: []byte(`{"openapi":"3.0.3","info":{"title":"Pets","version":"1"}}`)}, nil
	}
	return outside.Answer{}, fmt.Errorf("away.example: %w", outside.ErrUnreachable)
}

// deliveredInPortal is a store with a delivery in each state for the first webhook of the
// portal, one for its second, and one for that of another portal.
func deliveredInPortal() *memdb.DB {
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	db, err := memdb.New(apptest.Clock())
	one := func(org tenant.ID, lane string, rev uint64) core.Delivery {
		d := core.New(org, string(org), lane, "OrganisationRegistered", core.Origin{Revision: rev, At: now},
			fmt.Appendf(nil, `{"Event":"OrganisationRegistered","Message":{"ID":%d,"Name":"Acme","CreatedAt":"2026-01-02T03:00:00Z"},"Timestamp":"2026-01-02T03:00:00Z"}`, rev))
		d.ID = strings.Repeat(fmt.Sprint(rev), 24)
		return d
	}
	kind := delivery.Registration().Untyped
	_, more := db.Update(context.Background(), tenant.Everyone("test"), func(w store.Writer) error {
		failed := one("portal:default", "1", 1)
		for range core.MaxAttempts {
			failed = failed.Refused(now.Add(time.Minute), 503, "the receiver answered 503", 0)
		}
		var errs []error
		for _, d := range []core.Delivery{failed, one("portal:default", "1", 2).Succeeded(now, 204), one("portal:default", "1", 3).Refused(now, 0, "away.example: fetch: no answer", time.Minute),
			one("portal:default", "2", 4), one("portal:other", "1", 5)} {
			errs = append(errs, kind.Insert(context.Background(), w, d))
		}
		return errors.Join(errs...)
	})
	if err := errors.Join(err, more); err != nil {
		panic(err)
	}
	return db
}
