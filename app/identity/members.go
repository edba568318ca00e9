package identity

import (
	"context"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// caller is the principal of a call and the scope of the users that it is about.
type caller struct {
	Who   operation.Principal
	Scope tenant.Scope
}

type listIn struct {
	caller
	operation.Paging
}

// List lists the users of the organisation.
func (s Users) List(ctx context.Context, in listIn) (operation.Page[View], error) {
	var page operation.Page[identity.User]
	err := s.Store.View(ctx, in.Scope, func(r store.Reader) (err error) {
		page, err = operation.List(ctx, users, r, in.Paging, s.PageSize)
		return err
	})
	return s.shownTo(in.Who, page), err
}

func (s Users) shownTo(who operation.Principal, page operation.Page[identity.User]) operation.Page[View] {
	out := operation.Page[View]{Items: make([]View, 0, len(page.Items)), Pages: page.Pages}
	for _, u := range page.Items {
		out.Items = append(out.Items, s.viewFor(who, u))
	}
	return out
}

// Search is the body of a search.
type Search struct {
	Filters struct {
		Query string `json:"query" doc:"Part of the e-mail address, the first name or the last name."`
	} `json:"filters"`
}

type searchIn struct {
	listIn
	Search Search `body:""`
}

// codeQuery is the code of the fault for a search without anything to look for.
const codeQuery = identity.UserKind + ".query"

// Search lists the users whose address or name contains the query.
func (s Users) Search(ctx context.Context, in searchIn) (operation.Page[View], error) {
	return s.search(ctx, in.listIn, in.Search.Filters.Query, "filters.query")
}

// search lists the users whose address or name contains the query, which the client
// sent in a field.
func (s Users) search(ctx context.Context, in listIn, query, field string) (operation.Page[View], error) {
	part := strings.ToLower(strings.TrimSpace(query))
	if part == "" {
		return operation.Page[View]{}, fault.New(fault.Invalid, codeQuery, "%s must have the text to search for", field).At(field)
	}
	var found []identity.User
	err := s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		for u, err := range users.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			for _, text := range []string{u.Value.Email, u.Value.FirstName, u.Value.LastName} {
				if strings.Contains(strings.ToLower(text), part) {
					found = append(found, u.Value)
					break
				}
			}
		}
		return nil
	})
	if err != nil {
		return operation.Page[View]{}, err
	}
	page, err := operation.Slice(found, in.Paging, s.PageSize)
	return s.shownTo(in.Who, page), err
}

type searchByURLIn struct {
	listIn
	Query string `query:"q" required:"true" doc:"Part of the e-mail address, the first name or the last name."`
}

// SearchByURL is Search for clients that send the query in the URL.
func (s Users) SearchByURL(ctx context.Context, in searchByURLIn) (operation.Page[View], error) {
	return s.search(ctx, in.listIn, in.Query, "q")
}

type memberIn struct {
	caller
	userIn
}

// Get returns one user.
func (s Users) Get(ctx context.Context, in memberIn) (operation.Entity[View], error) {
	var u store.Stored[identity.User]
	err := s.Store.View(ctx, in.Scope, func(r store.Reader) (err error) {
		u, err = users.Get(ctx, r, in.ID)
		return err
	})
	if err != nil {
		return operation.Entity[View]{}, err
	}
	return operation.Entity[View]{Value: s.viewFor(in.Who, u.Value), Tag: operation.Tag(u.Serial)}, nil
}

// Me returns the user of the caller. A session from an identity broker has the groups
// and permissions of the session instead of the stored ones. For a person without a
// user, Me returns what the broker said.
func (s Users) Me(ctx context.Context, in caller) (operation.Entity[View], error) {
	out, err := s.Get(ctx, memberIn{caller: in, userIn: userIn{in.Who.ID}})
	if fault.KindOf(err) == fault.NotFound && in.Who.Lent { // a person without a user, whom a broker vouches for
		out, err = operation.Entity[View]{Value: shown(identity.User{ID: in.Who.ID, OrgID: in.Who.OrgID, Email: in.Who.Email, Active: true})}, nil
	}
	if err == nil && in.Who.Lent {
		u := identity.User{}.In(in.Who.GroupID, in.Who.Groups)
		out.Value.Permissions, out.Value.GroupID, out.Value.GroupIDs = in.Who.Permissions, u.GroupID, u.GroupIDs
		out.Tag = "" // the tag of the record does not cover these fields
	}
	return out, err
}
