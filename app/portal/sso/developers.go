package sso

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/sso"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// pageSize is how many developers a page has.
const pageSize = 20

// leastNonce is the minimum length of a nonce that a broker chooses, mostKey the maximum
// length of a key.
const (
	leastNonce = 16
	mostKey    = 500
)

// Developer is a developer in the format of the classic portal.
type Developer struct {
	ID            string            `json:"id"`
	Email         string            `json:"email"`
	Password      string            `json:"password" doc:"Ignored in requests and empty in responses: developers that a broker creates have no password."`
	DateCreated   time.Time         `json:"date_created"`
	Inactive      bool              `json:"inactive"`
	OrgID         string            `json:"org_id" doc:"0 stands for the portal."`
	APIKeys       map[string]string `json:"api_keys" doc:"Always empty."`
	Subscriptions map[string]string `json:"subscriptions" doc:"Always empty."`
	Fields        map[string]string `json:"fields" doc:"Name of the developer, in responses and when a developer is created."`
	Nonce         string            `json:"nonce" doc:"Nonce with which a browser can log in as the developer at /sso, once, within 60 seconds. Responses do not have it."`
	SSOKey        string            `json:"sso_key" doc:"Identifies the developer at an identity provider."`
}

func classic(u account.User) Developer {
	return Developer{ID: u.ID.String(), Email: u.Email, DateCreated: u.CreatedAt, Inactive: !u.Active, OrgID: "0", APIKeys: map[string]string{}, Subscriptions: map[string]string{},
		Fields: map[string]string{"Name": strings.TrimSpace(u.First + " " + u.Last)}, SSOKey: u.SSOKey}
}

// Page is a page of a list in the format of the classic portal.
type Page struct {
	Data  []Developer `json:"Data"`
	Pages int         `json:"Pages"`
}

// Receipt is an answer in the format of the dashboard.
type Receipt struct {
	Status  string `json:"Status"`
	Message string `json:"Message"`
	Meta    any    `json:"Meta"`
}

type pageIn struct {
	Number int `query:"p" doc:"Page number, from 1."`
}

// Developers lists developers, oldest first.
func (s *Service) Developers(ctx context.Context, in pageIn) (out Page, err error) {
	out.Data = []Developer{}
	var all []account.User
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		for u, err := range portal.All(ctx, r, people.Users, 0) {
			if err != nil {
				return err
			}
			if !u.Admin() {
				all = append(all, u)
			}
		}
		return nil
	})
	out.Pages = max(1, (len(all)+pageSize-1)/pageSize)
	from := min(max(0, min(in.Number, out.Pages+1)-1)*pageSize, len(all))
	for _, u := range all[from:min(from+pageSize, len(all))] {
		out.Data = append(out.Data, classic(u))
	}
	return out, err
}

type oneIn struct {
	ID string `path:"developer_id" doc:"Number or CID of the developer."`
}

type keyIn struct {
	Key string `path:"sso_key" doc:"Key of the developer at the identity provider."`
}

// Developer returns a developer.
func (s *Service) Developer(ctx context.Context, in oneIn) (Developer, error) {
	return s.one(ctx, func(r store.Reader) (account.User, error) { return portal.Find(ctx, r, people.Users, in.ID) })
}

// ByKey returns the developer with a key.
func (s *Service) ByKey(ctx context.Context, in keyIn) (Developer, error) {
	return s.one(ctx, func(r store.Reader) (account.User, error) { return people.BySSOKey(ctx, r, in.Key) })
}

// one returns a developer. It never returns admins, about whom brokers learn nothing.
func (s *Service) one(ctx context.Context, find func(store.Reader) (account.User, error)) (out Developer, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		u, err := find(r)
		if err == nil && u.Admin() {
			err = people.Users.Absent()
		}
		out = classic(u)
		return err
	})
	return out, err
}

type makeIn struct {
	Developer Developer `body:""`
}

type changeIn struct {
	oneIn
	Developer Developer `body:""`
}

// problems returns what is wrong with a broker's data about a developer. email is the
// normalised address.
func (d Developer) problems() (email string, err error) {
	wrong := table.Problems{}
	email, bad := identity.CleanEmail(d.Email)
	if bad != nil {
		wrong.Invalid("email")
	}
	if len(d.SSOKey) > mostKey {
		wrong.Invalid("sso_key")
	}
	if d.Nonce != "" && (len(d.Nonce) < leastNonce || len(d.Nonce) > mostKey) {
		wrong.Invalid("nonce")
	}
	return email, wrong.Err()
}

// Make creates a developer.
func (s *Service) Make(ctx context.Context, in makeIn) (out Receipt, err error) {
	d := in.Developer
	email, err := d.problems()
	if err != nil {
		return out, err
	}
	at := s.Stamp(s.Scope)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		p := sso.Person{Email: email, Name: d.Fields["Name"], Key: d.SSOKey, Provider: providerSSO}
		u := p.Newcomer(0)
		u.Active, u.Token, u.TokenAt = !d.Inactive, people.NewToken(s.People.Keys), at.Now()
		u, err := s.People.Make(ctx, w, at, u)
		if err == nil {
			err = s.lets(ctx, w, u, d.Nonce)
		}
		out = Receipt{"OK", u.ID.String(), nil}
		return err
	})
	return out, err
}

// providerSSO is the provider of accounts that an external broker creates.
const providerSSO = "sso"

// Change changes the address, the state and the key of a developer.
func (s *Service) Change(ctx context.Context, in changeIn) (Receipt, error) {
	d := in.Developer
	email, err := d.problems()
	if err != nil {
		return Receipt{}, err
	}
	at := s.Stamp(s.Scope)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		u, err := portal.Find(ctx, w, people.Users, in.ID)
		if err == nil && u.Admin() {
			err = people.Users.Absent()
		}
		if err != nil {
			return err
		}
		u, err = s.People.Edit(ctx, w, u.ID, at, func(u account.User) (account.User, error) {
			if d.Nonce != "" || d.SSOKey != "" && d.SSOKey != u.SSOKey {
				u = u.Vouched()
			}
			u.Email, u.Active, u.SSOKey = email, !d.Inactive, cmp.Or(d.SSOKey, u.SSOKey)
			return u, nil
		})
		if err != nil {
			return err
		}
		return s.lets(ctx, w, u, d.Nonce)
	})
	return Receipt{"OK", "Data updated", nil}, err
}

// lets stores a nonce that a broker has chosen for a developer.
func (s *Service) lets(ctx context.Context, w store.Writer, u account.User, nonce string) error {
	if nonce == "" {
		return nil
	}
	err := s.note(ctx, w, nonce, sso.Nonce{UserID: u.ID})
	if fault.KindOf(err) == fault.Conflict {
		wrong := table.Problems{}
		wrong.Invalid("nonce")
		err = wrong.Err()
	}
	return err
}

// AccessData is a broker's data about a person, whom the portal identifies by the address
// alone.
type AccessData struct {
	session.AccessData `needs:"EmailAddress,ForSection"`
}

type mintIn struct {
	Data AccessData `body:""`
}

// Mint creates a nonce with which one browser begins a session of a person. The broker vouches
// for the person.
func (s *Service) Mint(ctx context.Context, in mintIn) (out Receipt, err error) {
	if in.Data.ForSection == "" { // a broker that leaves it out cannot create admins
		wrong := table.Problems{}
		wrong.Blank("ForSection")
		return out, wrong.Err()
	}
	email, _ := identity.CleanEmail(in.Data.EmailAddress) // Person refuses an invalid address
	p, err := in.Data.Person(email)
	if err != nil {
		return out, err
	}
	who := sso.Person{Admin: p.Section == session.Dashboard, Email: p.Email, Name: p.DisplayName, Registered: p.Registered, Refused: p.Refused, Provider: providerSSO}
	if i := slices.IndexFunc(p.Groups, func(g string) bool { return g != "" }); i >= 0 {
		who.Team = p.Groups[i]
	}
	text := make([]byte, 32)
	rand.Read(text)
	nonce := base64.RawURLEncoding.EncodeToString(text)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error { return s.note(ctx, w, nonce, sso.Nonce{Person: who}) })
	return Receipt{"OK", "SSO Nonce created", nonce}, err
}

var _ operation.Service = (*Service)(nil)
