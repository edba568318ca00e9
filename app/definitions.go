package app

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	nethttp "net/http"
	"strings"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/gateway"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/app/outbound"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/app/reports"
	"github.com/gatehouse-io/gatehouse/app/resources/assets"
	"github.com/gatehouse-io/gatehouse/app/resources/hooks"
	"github.com/gatehouse-io/gatehouse/core/description/bundle"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	yamlport "github.com/gatehouse-io/gatehouse/ports/yaml"
)

// template returns the document part of an asset.
func template(ctx context.Context, r store.Reader, id string) (*doc.Node, error) {
	a, err := assets.Kind.Get(ctx, r, id)
	if err != nil {
		return nil, err
	}
	return doc.ParseNode(a.Value.Data)
}

// webhookText returns a webhook as clients read it.
func webhookText(ctx context.Context, r store.Reader, id string) (json.RawMessage, error) {
	h, err := hooks.Kind.Get(ctx, r, id)
	if err != nil {
		return nil, err
	}
	return json.Marshal(h.Value)
}

// source reads documents that come otherwise than as JSON.
type source struct {
	fetcher fetch.Fetcher
	limits  yamlport.Limits
}

// read returns the tree of a document as it was sent: itself, an archive, or the
// address where it is.
func (s source) read(ctx context.Context, b operation.Document) (*doc.Node, error) {
	if b.Archive != nil {
		n, err := bundle.Unpack(b.Archive, func(text []byte) (*doc.Node, error) { return yaml.Codec{}.Parse(text, s.limits) })
		return n, unreadable(err)
	}
	n, err := doc.ParseNode(b.JSON)
	if err != nil {
		return nil, unreadable(err)
	}
	address := n.Get("url")
	if !address.Is(doc.TypeString) || n.Get("openapi") != nil || n.Len() > 1 {
		return n, nil
	}
	// The answer takes room as a body of its size does.
	if operation.Undecided(ctx) {
		return nil, fault.New(fault.Denied, guard.CodeDenied, "access denied: rules look at the document behind url, which is downloaded only for users with the permission to write it")
	}
	under := load.Of(ctx)
	if err := under.Text(ctx, int64(s.limits.Bytes)); err != nil {
		return nil, err
	}
	a, err := s.fetcher.Fetch(ctx, fetch.Request{URL: address.Text()})
	switch {
	case errors.Is(err, fetch.ErrPrivate):
		return nil, unfetched("the address is not a public one; import.allow_private_addresses permits others", err)
	case errors.Is(err, fetch.ErrRequest):
		return nil, unfetched("url must be an absolute http or https address", err)
	case errors.Is(err, fetch.ErrTooLarge):
		return nil, unfetched("the document is too large", err)
	case err != nil:
		return nil, unfetched("the document could not be downloaded", err)
	case a.Status != nethttp.StatusOK:
		return nil, unfetched("the document could not be downloaded: the server answered "+nethttp.StatusText(a.Status), nil)
	}
	may, err := yaml.Codec{}.Weigh(a.Body, s.limits)
	if err != nil {
		return nil, unreadable(err)
	}
	if err := under.Work(ctx, int64(may.Bytes), int64(may.Values)); err != nil {
		return nil, err
	}
	n, err = yaml.Codec{}.Parse(a.Body, s.limits)
	return n, unreadable(err)
}

func unfetched(reason string, err error) error {
	return fault.New(fault.Invalid, operation.CodeMalformed, "%s", reason).At("url").Because(err)
}

func unreadable(err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return fault.New(fault.Invalid, operation.CodeMalformed, "%s", err.Error())
}

func newPolicies(t crud.Tools, d Definitions, b transport) *policies.Service {
	return &policies.Service{Store: t.Store, APIs: apis.Kind, NewID: t.NewID, Now: t.Now, PageSize: t.PageSize, References: t.References,
		Settings: policySettings(d), Room: b.bodies()}
}

func policySettings(d Definitions) policies.Settings {
	return policies.Settings{Ownership: d.APIs.Ownership, UnsafeIDs: d.UnsafePolicyIDs, SeparateGateways: d.APIs.SeparateGateways}
}

// newProxy lets users call the gateways of the configuration, and the custom
// domains of their APIs on them.
func newProxy(s outside, st store.Store) *outbound.Proxy {
	return &outbound.Proxy{Fetcher: s.fetcher, Gateways: func(ctx context.Context, scope tenant.Scope) ([]outbound.Gateway, error) {
		known := append([]outbound.Gateway(nil), s.gateways...)
		err := st.View(ctx, scope, func(r store.Reader) error {
			for a, err := range apis.Kind.Find(ctx, r, store.Query{}) {
				if err != nil {
					return err
				}
				if domain := a.Value.Domain(); domain != "" {
					known = append(known, outbound.At(domain, s.gateways)...)
				}
			}
			return nil
		})
		return known, err
	}}
}

func newStats(s basics, st store.Store, n *gateway.Nodes) *reports.Stats {
	return &reports.Stats{Store: st, Now: s.now, Gateways: n.Alive, APIs: func(ctx context.Context, r store.Reader) iter.Seq2[reports.Lifetime, error] {
		return func(yield func(reports.Lifetime, error) bool) {
			for a, err := range apis.Kind.Find(ctx, r, store.Query{}) {
				var l reports.Lifetime
				if err == nil {
					l = reports.Lifetime{Created: a.Value.Created(), Active: a.Value.Active()}
				}
				if !yield(l, err) {
					return
				}
			}
		}
	}}
}

// nowhere is the Fetcher of an App that was given none: it calls no server.
type nowhere struct{}

// Fetch implements fetch.Fetcher.
func (nowhere) Fetch(context.Context, fetch.Request) (fetch.Answer, error) {
	return fetch.Answer{}, fetch.ErrUnreachable
}

func (nowhere) Talk(context.Context, fetch.Request, []string) (fetch.Conversation, error) {
	return nil, fetch.ErrUnreachable
}

// newAPIID makes API IDs of 32 hexadecimal digits (docs/wire/requests.md#identifiers).
func newAPIID() string { return strings.ReplaceAll(crypto.NewUUID(), "-", "") }
