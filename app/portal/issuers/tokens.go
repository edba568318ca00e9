package issuers

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Keys issues keys of gateways through the dashboard of the provider.
type Keys struct {
	Open    synchronise.Providers
	Secrets secret.Keys
	// Sweeper deletes keys that a slow dashboard creates too late; nil: such keys stay.
	Sweeper *Sweeper
}

var _ Issuer = Keys{}

// drawn is the memo of a grant: the random identifier of a new key, so that a retry finds the
// key of an earlier attempt.
type drawn struct {
	ID   string
	Free bool `json:",omitempty"` // no key had the chosen identifier
}

// Prepare implements Issuer.
func (k Keys) Prepare(_ context.Context, _ store.Reader, act Act, g *Grant) (err error) {
	if act == Issue || act == Rotate {
		id := g.Chosen
		if id == "" {
			id = k.Secrets.NewKey()
		}
		g.Memo, err = json.Marshal(drawn{ID: id})
	}
	return err
}

// Steps implements Issuer.
func (k Keys) Steps(org tenant.ID, act Act, g *Grant) []intents.Step {
	a := k.acting(org, g)
	switch act {
	case Issue:
		steps := []intents.Step{{Name: "create the key", Do: func(ctx context.Context) error {
			return unsent(a.make(ctx, func(p synchronise.Provider) (*doc.Node, error) { return a.session(p), nil }))
		}, Undo: a.drop}}
		if g.Chosen != "" {
			steps = slices.Insert(steps, 0, intents.Step{Name: "look whether the key is free", Do: a.look, Notes: true})
		}
		return steps
	case Change:
		return []intents.Step{lessFine(g, intents.Step{Name: "change the key", Do: a.change(g.Before, g.Products), Undo: a.change(g.Products, g.Before)})}
	case Rotate:
		return []intents.Step{{Name: "create another key", Do: a.replace, Undo: a.drop}}
	}
	if act == Follow || act.KeepsValues() { // keys contain neither redirect addresses nor allow lists
		return nil
	}
	return []intents.Step{{Name: "delete the key", Do: a.revoke}}
}

// Discard implements Issuer.
func (k Keys) Discard(org tenant.ID, g *Grant) []intents.Step {
	a := k.acting(org, g)
	return []intents.Step{{Name: "delete the key before", Do: a.revoke}}
}

// acting executes the steps of one grant.
type acting struct {
	Keys
	org  tenant.ID
	g    *Grant
	late *bool // the answer to the creation of a key was lost
}

func (k Keys) acting(org tenant.ID, g *Grant) acting { return acting{k, org, g, new(bool)} }

func (a acting) dashboard(ctx context.Context) (synchronise.Provider, error) {
	scope, err := tenant.Of(a.org)
	if err != nil {
		return synchronise.Provider{}, err
	}
	return a.Open(ctx, scope, a.g.Provider)
}

// drawn returns the name of the new key.
func (a acting) drawn() (dashboard.KeyName, error) {
	var d drawn
	err := json.Unmarshal(a.g.Memo, &d)
	return dashboard.KeyName{Text: d.ID}, err
}

// session returns the session of a new key.
func (a acting) session(p synchronise.Provider) *doc.Node {
	s := credential.Session(a.g.Bearer, p.Org, a.g.Policies(a.g.Products), credential.After(a.g.At, a.g.Plan.KeyExpiresIn))
	if ties := a.g.Values.Ties(); len(ties) > 0 {
		credential.Bind(s, nil, ties)
	}
	return s
}

func (a acting) make(ctx context.Context, of func(synchronise.Provider) (*doc.Node, error)) error {
	p, err := a.dashboard(ctx)
	if err != nil {
		return err
	}
	name, err := a.drawn()
	if err != nil {
		return err
	}
	session, err := of(p)
	if err != nil {
		return err
	}
	made, err := p.Dashboard.CreateKey(ctx, name.Text, session)
	if err != nil {
		err = Explain(err)
		*a.late = fault.KindOf(err) == fault.Unavailable && !errors.Is(err, dashboard.ErrUnsent)
		return err
	}
	a.note(made)
	return nil
}

// CodeTaken is the fault code for a chosen text that is a key already.
const CodeTaken = "portal_access.taken"

// Taken returns the fault for a chosen text that is a key already, or is becoming one right
// now.
func Taken() error { return fault.New(fault.Invalid, CodeTaken, "KeyID has already been taken") }

// look refuses a chosen text that is a key already: the new key would overwrite it, and delete
// it at its end.
func (a acting) look(ctx context.Context) error {
	var d drawn
	if err := json.Unmarshal(a.g.Memo, &d); err != nil || d.Free {
		return err
	}
	p, err := a.dashboard(ctx)
	if err != nil {
		return err
	}
	_, err = p.Dashboard.Key(ctx, dashboard.KeyName{Text: d.ID})
	switch {
	case err == nil:
		return Taken()
	case !errors.Is(err, dashboard.ErrGone):
		return Explain(err)
	}
	d.Free = true
	a.g.Memo, err = json.Marshal(d)
	return err
}

// drop deletes the key that create may have made.
func (a acting) drop(ctx context.Context) error {
	var d drawn
	if err := json.Unmarshal(a.g.Memo, &d); err != nil || a.g.Chosen != "" && !d.Free { // the key belongs to another credential
		return err
	}
	if err := a.delete(ctx, dashboard.KeyName{Text: d.ID}); err != nil || !*a.late || a.Sweeper == nil || a.g.Chosen != "" { // other credentials may choose the same text
		return err
	}
	// The sweeper makes sure that the key is gone after the dashboard's time is over.
	scope, err := tenant.Of(a.org)
	if err != nil {
		return err
	}
	w := a.Sweeper
	late := &stray{Provider: a.g.Provider, Key: d.ID, Until: w.tools.Now().Add(w.Linger)}
	err = w.runner.Run(ctx, scope, intent.Subject{Kind: "portal-stray-key", ID: w.tools.NewID()}, late)
	if fault.KindOf(err) == fault.Unavailable { // the saga continues later
		return nil
	}
	return err
}

// revoke deletes the stored key.
func (a acting) revoke(ctx context.Context) error {
	if a.g.Was.Key == "" {
		return nil
	}
	return a.delete(ctx, dashboard.KeyName{Text: a.g.Was.Key})
}

func (a acting) delete(ctx context.Context, name dashboard.KeyName) error {
	p, err := a.dashboard(ctx)
	if fault.KindOf(err) == fault.NotFound { // the provider was deleted, so its keys are not ours to delete
		return nil
	}
	if err == nil {
		err = p.Dashboard.DeleteKey(ctx, name)
	}
	return Explain(err)
}

// replace creates a key with the session of the old one, so that changes by administrators are
// kept.
func (a acting) replace(ctx context.Context) error {
	if intents.Repeated(ctx) {
		if done, err := a.found(ctx); done || err != nil {
			return err
		}
	}
	return a.make(ctx, func(p synchronise.Provider) (*doc.Node, error) {
		was, err := p.Dashboard.Key(ctx, dashboard.KeyName{Text: a.g.Was.Key})
		if errors.Is(err, dashboard.ErrGone) {
			return a.session(p), nil
		}
		if err != nil {
			return nil, Explain(err)
		}
		session := was.Session.Clone()
		// A key must not name policies that the dashboard reports as gone. The policies of the
		// products exist.
		known := a.g.Policies(a.g.Products)
		list := slices.DeleteFunc(session.Get("apply_policies").Texts(), func(id string) bool {
			if slices.Contains(known, id) {
				return false
			}
			_, err := p.Dashboard.Policy(ctx, sync.Ref{ID: id})
			return errors.Is(err, dashboard.ErrGone)
		})
		session.Set("apply_policies", doc.NewStrings(list))
		if err := a.lift(ctx, p.Dashboard, session); err != nil {
			return nil, Explain(err)
		}
		session.Set("expires", doc.NewInt(credential.Unix(credential.After(a.g.At, a.g.Plan.KeyExpiresIn))))
		for _, name := range counters {
			session.Delete(name)
		}
		return session, nil
	})
}

// found adopts the key that an earlier attempt has created; the old key may be gone by now.
// found writes the key again, because a dashboard that could not answer deletes what it has
// created.
func (a acting) found(ctx context.Context) (bool, error) {
	p, err := a.dashboard(ctx)
	if err != nil {
		return false, err
	}
	name, err := a.drawn()
	if err != nil {
		return false, err
	}
	k, err := p.Dashboard.Key(ctx, name)
	if errors.Is(err, dashboard.ErrGone) {
		return false, nil
	}
	if err == nil {
		k, err = p.Dashboard.CreateKey(ctx, name.Text, k.Session)
	}
	if err == nil {
		a.note(k)
	}
	return err == nil, Explain(err)
}

// note records the key that was created.
func (a acting) note(k dashboard.Key) {
	a.g.Values = credential.Values{
		Public:  a.g.Values.Public,
		Secrets: credential.Secrets{Key: k.ID, Hash: k.Hash, Chosen: a.g.Chosen},
		Expires: credential.After(a.g.At, a.g.Plan.KeyExpiresIn),
	}
}

// counters are the counters in a session: a new key starts without them.
var counters = []string{"quota_remaining", "quota_renews", "allowance", "last_check", "date_created", "last_updated"}

// lift removes, from a session to be written, the inactivity that comes from a policy: sessions
// are read with their policies applied, and the key would keep the value for good.
func (a acting) lift(ctx context.Context, d dashboard.Dashboard, session *doc.Node) error {
	if !session.Get("is_inactive").True() {
		return nil
	}
	refs := []sync.Ref{a.g.Plan.Ref, a.g.Earlier.Ref}
	for _, p := range slices.Concat(a.g.Before, a.g.Products) {
		refs = append(refs, p.Ref)
	}
	for _, ref := range refs {
		if ref == (sync.Ref{}) {
			continue
		}
		p, err := d.Policy(ctx, ref)
		switch {
		case errors.Is(err, dashboard.ErrGone):
		case err != nil:
			return err
		case p.Document.Get("is_inactive").True():
			session.Set("is_inactive", doc.NewBool(false))
			return nil
		}
	}
	return nil
}

// change gives the key the policies of other products. Policies that administrators have added
// follow them.
func (a acting) change(from, to []Product) func(context.Context) error {
	return func(ctx context.Context) error {
		p, err := a.dashboard(ctx)
		if err != nil {
			return err
		}
		name := dashboard.KeyName{Text: a.g.Was.Key}
		k, err := p.Dashboard.Key(ctx, name)
		if err != nil {
			return Explain(err)
		}
		session, before, after := k.Session.Clone(), a.g.Policies(from), a.g.Policies(to)
		for _, id := range session.Get("apply_policies").Texts() {
			if !slices.Contains(before, id) && !slices.Contains(after, id) {
				after = append(after, id)
			}
		}
		session.Set("apply_policies", doc.NewStrings(after))
		if err := a.lift(ctx, p.Dashboard, session); err != nil {
			return Explain(err)
		}
		_, err = p.Dashboard.ReplaceKey(ctx, name, session)
		return Explain(err)
	}
}
