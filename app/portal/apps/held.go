package apps

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// held is an app of a user with its requests and credentials, for the archive of a
// person's data. It contains no secrets.
type held struct {
	ID                            table.ID
	Name, Description, Visibility string
	RedirectURLs                  table.CSV
	CreatedAt                     time.Time
	AccessRequests                []heldRequest
	Credentials                   []heldCredential
}

type heldRequest struct {
	ID        table.ID
	Status    request.Status
	PlanID    table.ID
	Products  []table.ID
	CreatedAt time.Time
}

type heldCredential struct {
	ID        table.ID
	AuthType  string
	ClientID  string    `json:",omitempty"`
	Expires   time.Time `json:",omitzero"` // zero: never
	CreatedAt time.Time
}

// Held returns the apps of a user with their access requests and credentials.
func Held(ctx context.Context, r store.Reader, u account.User) (any, error) {
	list, err := Owned(ctx, r, u.ID)
	if err != nil {
		return nil, err
	}
	out := []held{}
	for _, a := range list {
		h := held{ID: a.ID, Name: a.Name, Description: a.Description, RedirectURLs: a.RedirectURLs, Visibility: a.Visibility, CreatedAt: a.CreatedAt, AccessRequests: []heldRequest{}, Credentials: []heldCredential{}}
		asked, err := requestsOf(ctx, r, a.ID)
		if err != nil {
			return nil, err
		}
		for _, q := range asked {
			h.AccessRequests = append(h.AccessRequests, heldRequest{q.ID, q.Status, q.PlanID, q.ProductIDs, q.CreatedAt})
		}
		given, err := credentialsOf(ctx, r, a.ID)
		if err != nil {
			return nil, err
		}
		for _, c := range given {
			h.Credentials = append(h.Credentials, heldCredential{c.ID, c.AuthType, c.ClientID, c.Expires, c.CreatedAt})
		}
		out = append(out, h)
	}
	return out, nil
}
