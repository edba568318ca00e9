package live

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/orgrequest"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var requests = portal.KindOf(store.Lookup(byUser, func(r orgrequest.Request) string { return r.UserID.Key() }))

// Fault codes of requests for organisations.
const (
	CodeMoved   = "portal_request.moved"
	CodeBelongs = "portal_request.belongs"
	CodeAdmin   = "portal_request.admin"
)

// ShownRequest is a request for an organisation.
type ShownRequest struct {
	ID             table.ID `json:"ID"`
	CID            string   `json:"CID"`
	Name           string   `json:"Name"`
	User           string   `json:"User"`
	Status         string   `json:"Status"`
	OrganisationID table.ID `json:"OrganisationID"`
	CreatedAt      string   `json:"CreatedAt"`
	UpdatedAt      string   `json:"UpdatedAt"`
}

func showRequest(_ context.Context, _ store.Reader, r orgrequest.Request) (ShownRequest, error) {
	return ShownRequest{r.ID, r.CID, r.Name, "User#" + r.UserID.String(), string(r.Status), r.OrganisationID, table.Stamp(r.CreatedAt), table.Stamp(r.UpdatedAt)}, nil
}

// RequestResource defines requests for organisations as a resource for admins.
func (s *Service) RequestResource() portal.Resource[orgrequest.Request, ShownRequest, ShownRequest] {
	return portal.Resource[orgrequest.Request, ShownRequest, ShownRequest]{
		Kind: requests, Name: "portal-organisation-requests", Path: "/organisation_requests", Param: "organisation_request_id", One: "a request for an organisation", Many: "requests for organisations",
		List: showRequest, Show: showRequest, Sample: orgrequest.Request{Name: "Acme", UserID: 7, Email: "ada@example.com", Status: orgrequest.Pending},
		Events: event.OfRequests,
		Rows: func(o portal.Operations[orgrequest.Request, ShownRequest, ShownRequest]) []operation.Row {
			own := operation.Notes("This operation is an addition of this project.")
			action := func(name, path, summary, done string, e orgrequest.Event) operation.Row {
				return operation.PUT(name, "/{organisation_request_id}/"+path, summary, func(ctx context.Context, in requestNamed) (portal.Done, error) {
					at := s.Stamp(s.Scope)
					_, err := s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
						v, err := portal.Find(ctx, w, requests, in.ID)
						if err == nil {
							_, err = s.settle(ctx, w, at, v, e)
						}
						return err
					})
					return portal.Executed(done), err
				}, portal.Action(), portal.Unprocessable(), people.Personal(), own, operation.Faulting(CodeMoved, CodeAdmin), operation.Example(nil, portal.Executed(done)))
			}
			return []operation.Row{
				o.ListRow(own), o.GetRow(own),
				action("approve", "approve", "Approve a request for an organisation", "Approve", orgrequest.Approve),
				action("reject", "reject", "Reject a request for an organisation", "Reject", orgrequest.Reject),
			}
		},
	}
}

type requestNamed struct {
	ID string `path:"organisation_request_id" doc:"Number or CID of a request for an organisation."`
}

// settle stores a decision. An approval creates the organisation, and moves the
// requesting user there.
func (s *Service) settle(ctx context.Context, w store.Writer, at crud.Stamp, v orgrequest.Request, e orgrequest.Event) (orgrequest.Request, error) {
	next, ok := v.Status.On(e)
	if !ok {
		return v, fault.New(fault.Invalid, CodeMoved, "the request is %s already", v.Status)
	}
	if next == orgrequest.Approved {
		u, err := portal.Find(ctx, w, people.Users, v.UserID.String())
		if err == nil && u.Admin() { // admins are in no organisation: the new one would be empty
			err = fault.New(fault.Invalid, CodeAdmin, "%s has become an administrator, who is in no organisation: reject the request", u.Email)
		}
		if err != nil {
			return v, err
		}
		o, err := s.People.MakeOrganisation(ctx, w, at, organisation.Organisation{Name: v.Name})
		if err != nil {
			return v, err
		}
		v.OrganisationID = o.ID
		if _, err := s.People.Move(ctx, w, at, v.UserID, o.ID, func(u account.User) account.User {
			u.Role, u.RequestID = account.ConsumerAdmin, v.ID
			return u
		}); err != nil {
			return v, err
		}
	}
	return portal.Edit(ctx, w, requests, v.ID, at, func(r orgrequest.Request) (orgrequest.Request, error) {
		r.Status, r.OrganisationID = next, v.OrganisationID
		return r, nil
	})
}

type asking struct {
	person
	Body table.Body[orgrequest.Request] `body:""`
}

// Ask requests an organisation. Developers of the default organisation may have one
// open request. Even with automatic approval, a request waits for an admin if its name
// is taken.
func (s *Service) Ask(ctx context.Context, in asking) (out ShownRequest, err error) {
	at := s.Stamp(s.Scope)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		u, err := in.of(ctx, w)
		if err != nil {
			return err
		}
		rules, err := general.Load(ctx, w)
		switch {
		case err != nil:
			return err
		case !rules.OrganisationRequestsEnabled:
			return fault.New(fault.Denied, CodeClosed, "Requests for organisations are not allowed")
		case u.OrganisationID != organisation.Default:
			return fault.New(fault.Invalid, CodeBelongs, "You are in an organisation of your own already")
		}
		v := orgrequest.New(u)
		if err := in.Body.Apply(&v, true, portal.Resolver(ctx, w)); err != nil {
			return err
		}
		if v, err = portal.Add(ctx, w, requests, at, v); err != nil {
			return err
		}
		if rules.AutoApproveOrganisationRequests {
			free, err := people.Unnamed(ctx, w, v.Name)
			if err == nil && free {
				v, err = s.settle(ctx, w, at, v, orgrequest.Approve)
			}
			if err != nil {
				return err
			}
		}
		out, err = showRequest(ctx, w, v)
		return err
	})
	return out, err
}

type ownRequests struct {
	person
	portal.Page `params:""`
}

// Asked lists the caller's requests.
func (s *Service) Asked(ctx context.Context, in ownRequests) (out operation.Listing[ShownRequest], err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		id, _ := account.OfPrincipal(in.Who.ID)
		all, err := requests.Values(ctx, r, store.Query{Index: byUser, Value: id.Key()})
		if err != nil {
			return err
		}
		out = portal.Excerpt(all, in.Page, func(v orgrequest.Request) ShownRequest {
			shown, _ := showRequest(ctx, r, v) // showRequest reads nothing
			return shown
		})
		return nil
	})
	return out, err
}
