package mails

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Audience turns events of a portal into mails. Each event is delivered at least once; the
// mails are identified by their event, so that a repetition adds none.
type Audience struct{ *Service }

var _ deliver.Audience = Audience{}

// lane is the only lane: the mails have a queue of their own.
const lane = "mails"

// Name implements deliver.Audience.
func (a Audience) Name() string { return string(a.Scope.Org()) + " mails" }

// Lanes implements deliver.Audience: there are no lanes while the portal sends no mails.
func (a Audience) Lanes(ctx context.Context, r store.Reader, org tenant.ID, name string) ([]deliver.Lane, error) {
	if org != a.Scope.Org() || !letter.Causes(name) {
		return nil, nil
	}
	for g, err := range general.Kind.Find(ctx, r, store.Query{}) {
		if err != nil {
			return nil, err
		}
		if g.Value.Portal == org && a.sends(g.Value) {
			return []deliver.Lane{{Name: lane}}, nil
		}
	}
	return nil, nil
}

// Body implements deliver.Audience.
func (Audience) Body(e deliver.Event) ([]byte, error) {
	by, _ := account.OfPrincipal(e.By)
	return event.Encode(e.Name, e.Message, by, e.At)
}

// Target implements deliver.Audience.
func (a Audience) Target(context.Context, store.Reader, tenant.ID, string) (deliver.Target, error) {
	return deliver.Target{Hand: a.hand}, nil
}

// hand stores the mails that an event causes.
func (a Audience) hand(ctx context.Context, id string, body []byte) error {
	var told struct {
		Event   string
		Message letter.Facts
	}
	if err := json.Unmarshal(body, &told); err != nil {
		return fmt.Errorf("the event cannot be read: %w", err)
	}
	ctx = store.Attribute(ctx, store.Attribution{Actor: Operation, Operation: Operation})
	_, err := a.Store.Update(ctx, a.Scope, func(w store.Writer) error {
		for _, n := range letter.Of(told.Event, told.Message) {
			d, err := a.about(ctx, w, n, told.Message)
			if err != nil {
				return err
			}
			to, err := a.recipients(ctx, w, n, d)
			if err != nil {
				return err
			}
			for _, address := range to {
				if err := a.keep(ctx, w, id, n, address, d); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}

// about collects the data for a mail about an event.
func (a Audience) about(ctx context.Context, r store.Reader, n letter.Notice, f letter.Facts) (d Data, err error) {
	d.Person = Person{f.First, f.Last, f.Email}
	id := f.ID
	d.Values = map[string]any{}
	switch n.Event {
	case event.AccessRequestWaits, event.AccessRequestApproved, event.AccessRequestRejected:
		app, err := portal.Glance[struct {
			Name   string
			UserID table.ID
		}](ctx, r, appKind, f.AppID)
		if err != nil {
			return d, err
		}
		if id, err = asker(ctx, r, f.ID, app.UserID); err != nil {
			return d, err
		}
		d.Person = Person{}
		d.Values["requests"] = []map[string]any{{"ID": f.ID, "App": app.Name}}
	case event.OrganisationRequestCreated, event.OrganisationRequestRejected:
		id = f.AdminID
		d.Person = Person{Email: f.AdminEmail}
		d.Values["organisationName"] = f.Name
	}
	if d.Person.Email == "" || d.Person.First == "" {
		u, err := portal.Glance[account.User](ctx, r, account.Kind, id)
		if err != nil {
			return d, err
		}
		if u.ID != 0 {
			d.Person = Person{u.First, u.Last, u.Email}
		}
	}
	d.Values["user"], d.Values["name"] = d.Person.values(), d.Person.First
	return d, nil
}

// asker returns the receiver of a mail about a decision on access: the developer who
// requested it, because pages promise that; or the owner of the app, if that developer can
// no longer use it.
func asker(ctx context.Context, r store.Reader, about, owner table.ID) (table.ID, error) {
	asked, err := portal.Glance[request.Request](ctx, r, request.Kind, about)
	if err != nil || asked.AskedBy == 0 {
		return owner, err
	}
	u, err := portal.Glance[account.User](ctx, r, account.Kind, asked.AskedBy)
	if err != nil {
		return 0, err
	}
	o, err := portal.Glance[account.User](ctx, r, account.Kind, owner)
	if u.ID == 0 || u.OrganisationID != o.OrganisationID { // deleted accounts, and accounts that moved to another organisation, are not told about the app
		return owner, err
	}
	return u.ID, err
}

// appKind is the kind of apps.
const appKind = "portal-app"

// maxAdmins is how many admins get a mail.
const maxAdmins = 500

// recipients returns the addresses of the receivers who want a mail.
func (a Audience) recipients(ctx context.Context, r store.Reader, n letter.Notice, d Data) (out []string, err error) {
	if n.To != letter.Admins {
		if wanted, err := wanted(ctx, r, n, d.Person.Email); err != nil || !wanted {
			return nil, err
		}
		return []string{d.Person.Email}, nil
	}
	for u, err := range people.Admins(ctx, r) {
		if err != nil {
			return nil, err
		}
		if len(out) < maxAdmins && u.Wants(n.Name) {
			out = append(out, u.Email)
		}
	}
	if n.Event != event.UserRegistered {
		return out, nil
	}
	g, err := general.Load(ctx, r)
	if to := strings.ToLower(strings.TrimSpace(g.AdminSignUpEmail)); to != "" && !slices.Contains(out, to) {
		out = append(out, to)
	}
	return out, err
}
