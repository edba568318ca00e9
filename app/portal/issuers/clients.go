package issuers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Clients issues clients of the gateways' authorisation server, through the dashboard of the
// provider: one client with one secret at each API of the products, and its own policy
// (docs/wire/portal-apps.md#clients-of-gateways).
type Clients struct {
	Open      synchronise.Providers
	Secrets   secret.Keys
	Separator string // separator of redirect addresses; "": gateways accept one address
}

var _ Issuer = Clients{}

// CodeRotate is the fault code for a credential whose value cannot be rotated.
const CodeRotate = "portal_access.rotate"

// clientMemo is the data of the steps besides the grant.
type clientMemo struct {
	ID, Secret string
	Mark       string                 // of the policies that the portal makes at this dashboard
	Redirects  string                 // as gateways read them
	Before     string                 // likewise, before the change
	State      credential.ClientState // the current state; of a new client, the part that was made
}

// Prepare implements Issuer.
func (c Clients) Prepare(ctx context.Context, r store.Reader, act Act, g *Grant) (err error) {
	m := clientMemo{ID: g.Was.ClientID, Secret: g.Was.ClientSecret}
	at, err := portal.Glance[table.Base](ctx, r, provider.Kind, g.Provider)
	if err != nil {
		return err
	}
	m.Mark = at.CID
	m.Before = c.taken(g.Formerly.Redirects())
	switch act {
	case Rotate:
		return fault.New(fault.Invalid, CodeRotate, "OAuth clients can't be rotated: delete the credential, and request access again")
	case Renew:
		return fault.New(fault.Invalid, CodeRotate, "clients of the credential come without a certificate")
	case Issue:
		m.ID, m.Secret = c.Secrets.NewKey(), c.Secrets.NewKey()
		m.Redirects, err = credential.JoinRedirects(g.App.Redirects(), c.Separator)
	case Follow:
		m.Redirects, err = credential.JoinRedirects(g.App.Redirects(), c.Separator)
	default:
		m.Redirects = c.taken(g.App.Redirects())
	}
	if err == nil && len(g.Was.Own) > 0 {
		err = json.Unmarshal(g.Was.Own, &m.State)
	}
	if err == nil {
		g.Memo, err = json.Marshal(m)
	}
	return err
}

// taken encodes redirect addresses that gateways accepted before. If the separator setting has
// changed, gateways would refuse them: then only the first one is kept.
func (c Clients) taken(list []string) string {
	out, err := credential.JoinRedirects(list, c.Separator)
	if err != nil {
		return list[0]
	}
	return out
}

// reachable returns the APIs of products that exist.
func reachable(list []Product) []string {
	return APIs(slices.DeleteFunc(slices.Clone(list), func(p Product) bool { return p.Away }))
}

// Steps implements Issuer.
func (c Clients) Steps(org tenant.ID, act Act, g *Grant) []intents.Step {
	a := &client{Clients: c, org: org, g: g}
	if err := json.Unmarshal(g.Memo, &a.memo); err != nil {
		return []intents.Step{{Name: "read the memo", Do: func(context.Context) error { return err }}}
	}
	had, gets := a.memo.State.APIs, reachable(g.Products)
	switch act {
	case Issue:
		made := intents.Step{Name: "make the policy of the client", Do: a.make, Undo: a.unmake, Notes: true}
		return append([]intents.Step{made}, a.at(gets, nil)...)
	case Change:
		plan := g.Plan
		if g.Earlier.ID != 0 {
			plan = g.Earlier
		}
		change := lessFine(g, intents.Step{Name: "change the policy of the client", Do: a.write(g.Products, g.Plan), Undo: a.write(g.Before, plan)})
		return slices.Concat([]intents.Step{change}, a.at(gets, had), a.off(had, gets))
	case Spread: // a repair to the desired state is not undone
		steps := slices.Concat([]intents.Step{{Name: "change the policy of the client", Do: a.write(g.Products, g.Plan)}}, a.at(gets, nil), a.off(had, gets))
		for i := range steps {
			steps[i].Undo = nil
		}
		return steps
	case Follow:
		if len(g.App.Redirects()) == 0 { // the client keeps its addresses
			return nil
		}
		g.Values.RedirectURI = string(g.App.RedirectURLs)
		var steps []intents.Step
		for _, api := range had {
			steps = append(steps, intents.Step{Name: "change the redirections of the client at " + api, Do: a.enter(api, a.memo.Redirects), Undo: a.enter(api, a.memo.Before)})
		}
		return steps
	}
	return append(a.off(had, nil), intents.Step{Name: "delete the policy of the client", Do: a.unmake})
}

// Discard implements Issuer: nothing is rotated.
func (Clients) Discard(tenant.ID, *Grant) []intents.Step { return nil }

// client executes the steps of one grant.
type client struct {
	Clients
	org  tenant.ID
	g    *Grant
	memo clientMemo
}

// reach calls the dashboard.
func (a *client) reach(ctx context.Context, do func(synchronise.Provider) error) error {
	scope, err := tenant.Of(a.org)
	if err != nil {
		return err
	}
	p, err := a.Open(ctx, scope, a.g.Provider)
	if err == nil {
		err = do(p)
	}
	return Explain(err)
}

// gone is reach for deletions: it does nothing if the dashboard is no longer connected.
func (a *client) gone(ctx context.Context, do func(synchronise.Provider) error) error {
	scope, err := tenant.Of(a.org)
	if err != nil {
		return err
	}
	if _, err := a.Open(ctx, scope, a.g.Provider); fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return a.reach(ctx, do)
}

// policy returns the policy of the client for products under a plan.
func (a *client) policy(p synchronise.Provider, read func(sync.Ref) (*doc.Node, error), products []Product, plan Plan) (out credential.ClientPolicy, err error) {
	out = credential.ClientPolicy{Client: a.memo.ID, Org: p.Org, Mark: a.memo.Mark, App: a.g.App.ID, Organisation: a.g.Bearer.Organisation, Tags: p.Tags}
	for _, one := range products {
		n, err := read(one.Ref)
		if err != nil {
			return out, err
		}
		if n != nil {
			out.Products = append(out.Products, n)
		}
	}
	if plan.ID != 0 {
		out.Plan, err = read(plan.Ref)
	}
	return out, err
}

// reading returns a function that reads policies one by one; nil stands for a deleted policy.
func reading(ctx context.Context, d dashboard.Policies) func(sync.Ref) (*doc.Node, error) {
	return func(ref sync.Ref) (*doc.Node, error) {
		if ref == (sync.Ref{}) {
			return nil, nil
		}
		p, err := d.Policy(ctx, ref)
		if errors.Is(err, dashboard.ErrGone) {
			return nil, nil
		}
		return p.Document, err
	}
}

// make creates the policy of a new client. Its products must exist.
func (a *client) make(ctx context.Context) error {
	return a.reach(ctx, func(p synchronise.Provider) error {
		want, err := a.policy(p, reading(ctx, p.Dashboard), a.g.Products, a.g.Plan)
		if err != nil {
			return err
		}
		if len(want.Products) < len(a.g.Products) || want.Plan == nil {
			return fmt.Errorf("%w: a policy of the products or of the plan", dashboard.ErrGone)
		}
		if err := a.create(ctx, p, want); err != nil {
			return err
		}
		return a.note(a.g.Products)
	})
}

func (a *client) create(ctx context.Context, p synchronise.Provider, want credential.ClientPolicy) (err error) {
	n := doc.NewObject()
	want.Write(n)
	a.memo.State.Policy, err = p.Dashboard.Create(ctx, n)
	return err
}

// note updates the values of the credential.
func (a *client) note(products []Product) error {
	a.memo.State.APIs = reachable(products)
	own, err := json.Marshal(a.memo.State)
	if err != nil {
		return err
	}
	v := &a.g.Values
	v.ClientID, v.ClientSecret, v.Own = a.memo.ID, a.memo.Secret, own
	if len(a.g.App.Redirects()) > 0 {
		v.RedirectURI = string(a.g.App.RedirectURLs)
	}
	a.g.Memo, err = json.Marshal(a.memo)
	return err
}

// unmake deletes the policy of the client.
func (a *client) unmake(ctx context.Context) error {
	ref := a.memo.State.Policy
	if ref == (sync.Ref{}) {
		ref = sync.Ref{ID: credential.ClientPolicy{Client: a.memo.ID}.ID()}
	}
	return a.gone(ctx, func(p synchronise.Provider) error { return p.Dashboard.Delete(ctx, ref) })
}

// write updates the policy from the current products and plan. If the policy was deleted, it
// is created again.
func (a *client) write(products []Product, plan Plan) func(context.Context) error {
	return func(ctx context.Context) error {
		return a.reach(ctx, func(p synchronise.Provider) error {
			want, err := a.policy(p, reading(ctx, p.Dashboard), products, plan)
			if err != nil {
				return err
			}
			err = dashboard.ErrChanged
			for n := 0; n < attempts && errors.Is(err, dashboard.ErrChanged); n++ {
				err = a.put(ctx, p, want)
			}
			if err != nil {
				return err
			}
			return a.note(products)
		})
	}
}

func (a *client) put(ctx context.Context, p synchronise.Provider, want credential.ClientPolicy) error {
	have, err := p.Dashboard.Policy(ctx, a.memo.State.Policy)
	if errors.Is(err, dashboard.ErrGone) {
		return a.create(ctx, p, want)
	}
	if err != nil || !want.Write(have.Document) {
		return err
	}
	return p.Dashboard.Replace(ctx, have)
}

// at returns the steps that create the client at APIs, except the ones in but.
func (a *client) at(apis, but []string) (steps []intents.Step) {
	for _, api := range apis {
		if !slices.Contains(but, api) {
			steps = append(steps, intents.Step{Name: "create the client at " + api, Do: a.enter(api, a.memo.Redirects), Undo: a.leave(api)})
		}
	}
	return steps
}

// off returns the steps that delete the client from APIs, except the ones in but.
func (a *client) off(apis, but []string) (steps []intents.Step) {
	for _, api := range apis {
		if !slices.Contains(but, api) {
			steps = append(steps, intents.Step{Name: "delete the client at " + api, Do: a.leave(api), Undo: a.enter(api, a.memo.Redirects)})
		}
	}
	return steps
}

// enter creates the client at an API.
func (a *client) enter(api, redirects string) func(context.Context) error {
	return func(ctx context.Context) error {
		return a.reach(ctx, func(p synchronise.Provider) error {
			return p.Dashboard.PutOAuthClient(ctx, api, dashboard.OAuthClient{
				ID: a.memo.ID, Secret: a.memo.Secret, RedirectURI: redirects, Policy: a.memo.State.Policy.Name(),
				Description: fmt.Sprintf("%s (%s)", a.g.App.Name, a.g.App.ID), Meta: a.g.Bearer.MetaData(),
			})
		})
	}
}

func (a *client) leave(api string) func(context.Context) error {
	return func(ctx context.Context) error {
		return a.gone(ctx, func(p synchronise.Provider) error { return p.Dashboard.DeleteOAuthClient(ctx, api, a.memo.ID) })
	}
}

// Behind reports whether the policy of a client is out of date, or its products have other
// APIs than those where the client exists. policies are all policies of the dashboard.
func (c Clients) Behind(p synchronise.Provider, policies Policies, g *Grant) (bool, error) {
	a := &client{Clients: c, g: g}
	if err := json.Unmarshal(g.Memo, &a.memo); err != nil {
		return false, err
	}
	want, err := a.policy(p, policies.find, g.Products, g.Plan)
	if err != nil {
		return false, err
	}
	have, _ := policies.find(a.memo.State.Policy)
	return have == nil || want.Write(have.Clone()) || !slices.Equal(reachable(g.Products), a.memo.State.APIs), nil
}

// Policies indexes the policies of a dashboard by their names: searching all policies for each
// client would take quadratic time, since each client has its own policy.
type Policies struct{ object, custom map[string]*doc.Node }

// PoliciesOf indexes policies by their names; of two with the same name the first counts.
func PoliciesOf(list []*doc.Node) Policies {
	out := Policies{make(map[string]*doc.Node, len(list)), make(map[string]*doc.Node, len(list))}
	for _, n := range slices.Backward(list) {
		out.object[n.Get("_id").Text()], out.custom[n.Get("id").Text()] = n, n
	}
	return out
}

// find returns a policy; nil: there is none.
func (p Policies) find(ref sync.Ref) (*doc.Node, error) {
	switch {
	case ref.ObjectID != "":
		return p.object[ref.ObjectID], nil
	case ref.ID != "":
		return p.custom[ref.ID], nil
	}
	return nil, nil
}
