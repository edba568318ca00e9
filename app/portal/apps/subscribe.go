package apps

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodeSubscribe is the fault code for a subscription to a request that is not approved.
const CodeSubscribe = "portal_access.subscribe"

type subscribing struct {
	nested
	Body table.Body[request.Subscribed] `body:""`
}

// subscribe stores the address to which gateways send the messages of an access
// request.
func (s *Service) subscribe(ctx context.Context, in subscribing) (out Within, err error) {
	_, err = s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		a, req, err := s.below(ctx, w, in.named, in.Request)
		if err != nil {
			return err
		}
		if req.Status != request.Approved {
			return fault.New(fault.Invalid, CodeSubscribe, "only an approved access request can subscribe to messages")
		}
		was, err := s.subscription(req)
		if err != nil {
			return err
		}
		wanted := request.Subscribed{URL: was.WebhookURL, Secret: was.WebhookSecret, Types: was.WebhookEventTypes}
		if err := in.Body.Apply(&wanted, false, portal.Resolver(ctx, w)); err != nil {
			return err
		}
		list, err := existing(ctx, w, req.ProductIDs)
		if err != nil {
			return err
		}
		var others [][]string // event types of products that the request is not about
		for p, err := range portal.All(ctx, w, products.Kind, 0) {
			if err != nil {
				return err
			}
			if !slices.Contains(req.ProductIDs, p.ID) {
				others = append(others, p.WebhookEventTypes)
			}
		}
		if err := wanted.Offered(list, others).Err(); err != nil {
			return err
		}
		sealed := ""
		if wanted.Secret != "" {
			if sealed, err = s.Secrets.Seal(wanted.Secret); err != nil {
				return err
			}
		}
		req, err = portal.Edit(ctx, w, Requests, req.ID, s.Stamp(s.Scope), func(r request.Request) (request.Request, error) {
			r.Subscription = request.Subscription{WebhookURL: wanted.URL, WebhookEventTypes: wanted.Types, SealedSecret: sealed}
			return r, nil
		})
		if err == nil {
			out, err = s.inside(ctx, w, a, req)
		}
		return err
	})
	return out, err
}

// existing returns the products of a request that exist, also hidden ones.
func existing(ctx context.Context, r store.Reader, ids []table.ID) (out []productOf, err error) {
	for _, id := range ids {
		v, err := products.Kind.Get(ctx, r, id.Key())
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, v.Value)
	}
	return out, nil
}
