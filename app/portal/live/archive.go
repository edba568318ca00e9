package live

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/orgrequest"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/visit"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Known is a category of a person's data in the portal: its name, and a function that
// returns the data.
type Known struct {
	Name string
	Of   func(ctx context.Context, r store.Reader, u account.User) (any, error)
}

// known are the data of this package; Config.Known are those of others. They contain no
// secrets: no hashes, tokens or codes.
var known = []Known{
	{"account", func(ctx context.Context, r store.Reader, u account.User) (any, error) {
		p, err := profile(ctx, r, u)
		values := map[string]string{}
		for _, v := range u.Attributes {
			values[v.Identifier] = v.Value
		}
		return struct {
			Profile
			Attributes                               map[string]string
			UnwantedMails                            []string
			CreatedAt, UpdatedAt, InvitedAt, AskedAt string
		}{p, values, append([]string{}, u.Unwanted...), table.Stamp(u.CreatedAt), table.Stamp(u.UpdatedAt), table.Stamp(u.InvitedAt), table.Stamp(u.AskedAt)}, err
	}},
	{"sessions", func(ctx context.Context, r store.Reader, u account.User) (any, error) {
		type session struct{ Created, Seen time.Time }
		out := []session{}
		err := each(ctx, r, sessions, u, func(v visit.Session) { out = append(out, session{v.Created, v.Seen}) })
		return out, err
	}},
	{"organisation-requests", func(ctx context.Context, r store.Reader, u account.User) (any, error) {
		out := []ShownRequest{}
		err := each(ctx, r, requests, u, func(v orgrequest.Request) {
			shown, _ := showRequest(ctx, r, v) // showRequest reads nothing
			out = append(out, shown)
		})
		return out, err
	}},
}

// each calls fn for the records of a kind that belong to a user.
func each[T any](ctx context.Context, r store.Reader, k *store.Kind[T], u account.User, fn func(T)) error {
	for v, err := range k.Find(ctx, r, store.Query{Index: byUser, Value: u.ID.Key()}) {
		if err != nil {
			return err
		}
		fn(v.Value)
	}
	return nil
}

// Archive is all data about a person in the portal, by category.
type Archive map[string]any

// Schema describes the archive.
func (Archive) Schema() map[string]any { return map[string]any{"type": "object"} }

type archiveIn struct {
	ID string `path:"user_id" doc:"Number or CID of a user."`
}

// Archive returns all data about a person, from one moment.
func (s *Service) Archive(ctx context.Context, in archiveIn) (Archive, error) {
	out := Archive{}
	err := s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		u, err := portal.Find(ctx, r, people.Users, in.ID)
		if err != nil {
			return err
		}
		for _, k := range append(known[:len(known):len(known)], s.Known...) {
			if out[k.Name], err = k.Of(ctx, r, u); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}
