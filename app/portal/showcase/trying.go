package showcase

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/tryout"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Fault codes of calls that developers try.
const (
	CodeNowhere    = "portal_try.nowhere"
	CodeForbidden  = "portal_try.private"
	CodeAway       = "portal_try.away"
	CodeLarge      = "portal_try.too_large"
	CodeWait       = "portal_try.wait"
	CodeCredential = "portal_try.credential"
)

// codeSealed is the fault code for a key that no encryption key can open.
const codeSealed = "portal_access.sealed"

// Bounds of the relay.
const (
	triesPerMinute = 60 // of a user
	triesAtOnce    = 4  // of a user
	triesInAll     = 64 // concurrent, in all
)

// tries counts the running calls of developers, or their subscriptions.
type tries struct {
	mu    sync.Mutex
	count session.Attempts
	open  map[table.ID]int
	all   int
}

// begin counts a call of a user, and returns the function that ends it.
func (t *tries) begin(now time.Time, u table.ID) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[table.ID]int{}
		t.count = session.Attempts{Limit: triesPerMinute, Window: time.Minute, Room: 10_000}
	}
	wait := t.count.Take(now, u.Key())
	if wait == 0 && (t.open[u] >= triesAtOnce || t.all >= triesInAll) {
		wait = time.Second
	}
	if wait > 0 {
		f := fault.New(fault.TooMany, CodeWait, "too many requests: try again later")
		f.Wait = int((wait + time.Second - 1) / time.Second)
		return nil, f
	}
	t.open[u]++
	t.all++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.all--
		if t.open[u]--; t.open[u] == 0 {
			delete(t.open, u)
		}
	}, nil
}

// Tryable is the data that a user needs to call an API from a page.
type Tryable struct {
	Address     string     `json:"Address" doc:"Base address of the API, to which paths are appended."`
	Credentials []Openable `json:"Credentials" doc:"Credentials with a key for the product, in apps that the caller may use."`
}

// Openable is a credential with access to a product.
type Openable struct {
	ID  table.ID `json:"ID"`
	App string   `json:"App" doc:"Name of the credential's app."`
	// Open returns its key.
	Open func() (string, error) `json:"-"`
}

type trying struct{ documented }

type sending struct {
	trying
	Body tryout.Call `body:""`
}

// tried is the data for a call.
type tried struct {
	user    account.User
	product product.Product
	address string
	keys    []Openable
}

// tryable finds the API that a user wants to call, if it is visible and has a gateway.
func (s *Service) tryable(ctx context.Context, in trying) (out tried, err error) {
	err = s.look(ctx, in.visitor, func(r store.Reader, now sight) error {
		if now.viewer == nil {
			return fault.New(fault.Unauthenticated, "auth.credential", "unauthorized")
		}
		p, err := find(ctx, r, now, in.Path)
		if err != nil {
			return err
		}
		all, err := documents.Readables(ctx, r, p)
		if err != nil {
			return err
		}
		out = tried{user: *now.viewer, product: p}
		known := false
		for _, d := range all {
			if d.Alias == in.Alias {
				known = true
				if out.address, err = documents.ServedAt(ctx, r, p, d); err != nil {
					return err
				}
			}
		}
		switch {
		case !known:
			return documents.Absent()
		case out.address == "":
			return fault.New(fault.Invalid, CodeNowhere, "no gateway serves the API, or its provider has no gateway address")
		}
		out.keys, err = s.Keys(ctx, r, out.user, p.ID)
		return err
	})
	return out, err
}

// tryout returns the data that a user needs to call an API from a page.
func (s *Service) tryout(ctx context.Context, in trying) (out Tryable, err error) {
	t, err := s.tryable(ctx, in)
	out = Tryable{Address: t.address, Credentials: []Openable{}}
	out.Credentials = append(out.Credentials, t.keys...)
	return out, err
}

// send sends a call to the gateways of a product, and to no other host.
func (s *Service) send(ctx context.Context, in sending) (out tryout.Answer, err error) {
	if err := in.Body.Check(); err != nil {
		return out, err
	}
	t, err := s.tryable(ctx, in.trying)
	if err != nil {
		return out, err
	}
	end, err := s.tries.begin(s.Now(), t.user.ID)
	if err != nil {
		return out, err
	}
	defer end()
	r, err := s.request(t, in.Body)
	if err != nil {
		return out, err
	}
	a, err := s.Relay.Fetch(ctx, r)
	if err != nil {
		return out, told(err)
	}
	return tryout.Shown(a.Status, a.Header, a.Body), nil
}

// request returns the request to the gateway.
func (s *Service) request(t tried, c tryout.Call) (r fetch.Request, err error) {
	at, ok := c.At(t.address)
	if !ok {
		var wrong table.Problems
		wrong.Invalid("Path")
		return r, wrong.Err()
	}
	header := map[string]string{}
	for _, h := range c.Headers {
		header[h.Name] = h.Value
	}
	if c.Token != "" {
		header["Authorization"] = c.Token
	}
	if id := c.CredentialID; id != 0 {
		i := slices.IndexFunc(t.keys, func(k Openable) bool { return k.ID == id })
		if i < 0 {
			return r, fault.New(fault.Invalid, CodeCredential, "CredentialID is not one of your credentials that open the product")
		}
		header["Authorization"], err = t.keys[i].Open()
	}
	return fetch.Request{Method: c.Method, URL: at, Header: header, Body: []byte(c.Body), Still: true}, err
}

// told returns why there is no answer. It contains no address: the caller must not learn
// the internal address of the gateway.
func told(err error) error {
	switch {
	case errors.Is(err, fetch.ErrPrivate):
		return fault.New(fault.Unavailable, CodeForbidden, "the portal may not reach the gateway: its address is not a public one").Because(err)
	case errors.Is(err, fetch.ErrTooLarge):
		return fault.New(fault.Unavailable, CodeLarge, "the answer of the gateway is too large to be shown here").Because(err)
	}
	return fault.New(fault.Unavailable, CodeAway, "the gateway does not answer").Because(err)
}

// tryRows are the rows for calls from pages.
func (s *Service) tryRows() []operation.Row {
	failing := operation.Faulting(live.CodeUnproven, live.CodeExpired, CodePrivate, CodeHidden, CodeNowhere, CodeForbidden, CodeAway, CodeLarge, CodeWait, CodeCredential, table.CodeInvalid, codeSealed)
	answers := operation.Answers(map[string]operation.Answer{CodeNowhere: {Status: 422}, CodeCredential: {Status: 422}, table.CodeInvalid: {Status: 422}})
	return []operation.Row{
		operation.GET("tryout", "/catalogue-products/{product_path}/{api_alias}/try", "Fetch the data of the form that calls an API", s.tryout, operation.BySession(),
			operation.Faulting(live.CodeExpired, CodePrivate, CodeHidden, CodeNowhere), operation.Answers(map[string]operation.Answer{CodeNowhere: {Status: 422}}),
			operation.Example(nil, Tryable{"https://api.example.com/payments/", []Openable{{ID: 4, App: "Checkout"}}})),
		operation.POST("try", "/catalogue-products/{product_path}/{api_alias}/try", "Call an API from a page", s.send, operation.BySession(), failing, answers,
			operation.Unseen("Token", "Headers", "Body", "Query", "Path"), operation.Limits(maxTry, tryFor),
			operation.Notes("The portal sends the call to a gateway of the product and returns the response. Redirects are not followed."),
			operation.Example(map[string]any{"Method": "GET", "Path": "/cards", "CredentialID": 4}, tryout.Answer{Status: 200, Headers: []tryout.Header{{Name: "Content-Type", Value: "application/json"}}, Body: "[]", Size: 2})),
		operation.POST("subscribe", "/catalogue-products/{product_path}/{api_alias}/subscribe", "Subscribe to a GraphQL API from a page", s.subscribe, operation.BySession(), failing, answers,
			operation.Unseen("Token", "Headers", "Body", "Query", "Path"), operation.Limits(maxTry, tryFor),
			operation.Notes("The body is that of a GraphQL query over HTTP. The portal opens a WebSocket to a gateway of the product and sends the results as server-sent events: next with a result, error with a list of errors, or complete. The stream ends after ten minutes, or when the session ends."),
			operation.Example(map[string]any{"Method": "POST", "Body": `{"query":"subscription { rates { EUR } }"}`, "CredentialID": 4}, &Subscribed{example: []byte("event: next\ndata: {\"data\":{\"rates\":{\"EUR\":1}}}\n\n")})),
	}
}

// Bounds of one call: bytes of the client's request, and total duration.
const (
	maxTry = 512 << 10
	tryFor = 20 * time.Second
)
