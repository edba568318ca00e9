package keys

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

type createIn struct {
	caller
	Basic string    `query:"basic_auth" is:"boolean" doc:"true: the key is a basic-auth user; basic_auth_data.user is its name."`
	Draft key.Draft `body:""`
}

// Create creates a key with an ID that we generate, or a basic-auth user.
func (s *Service) Create(ctx context.Context, in createIn) (KeyData, error) {
	if yes(in.Basic) {
		return s.CreateUser(ctx, createUser{in.caller, in.Draft.User(), in.Draft})
	}
	return s.create(ctx, in.caller, in.Draft, &creation{})
}

type createNamed struct {
	caller
	ID    string    `path:"keyId" doc:"Identifier of the new key."`
	Draft key.Draft `body:""`
}

// CreateNamed creates a key with an ID that the caller chose. It replaces the key with
// this ID.
func (s *Service) CreateNamed(ctx context.Context, in createNamed) (KeyData, error) {
	if err := checkName(in.Scope.Org(), in.ID); err != nil {
		return KeyData{}, err
	}
	if key.Whole(in.ID) {
		return KeyData{}, fault.New(fault.Invalid, key.CodeName, "this is a whole key: gateways make keys out of identifiers")
	}
	return s.create(ctx, in.caller, in.Draft, &creation{ID: in.ID})
}

// checkName refuses a name that gateways would not find again. They strip the ID of the
// organisation, so nothing would be left of a name that equals it.
func checkName(org tenant.ID, name string) error {
	if name == string(org) {
		return fault.New(fault.Invalid, key.CodeName, "the name of a key or user is not that of the organisation")
	}
	return key.CheckName(name)
}

type createUser struct {
	caller
	Name  string    `path:"username" doc:"Name of the new basic-auth user, unique in the organisation."`
	Draft key.Draft `body:""`
}

// CreateUser creates a basic-auth user.
func (s *Service) CreateUser(ctx context.Context, in createUser) (KeyData, error) {
	if in.Name == "" {
		return KeyData{}, fault.New(fault.Invalid, codeUser, "basic_auth_data.user is required: it is the name of the user").At("basic_auth_data.user")
	}
	if err := checkName(in.Scope.Org(), in.Name); err != nil {
		return KeyData{}, err
	}
	return s.create(ctx, in.caller, in.Draft, &creation{ID: in.Name, User: true})
}

func (s *Service) create(ctx context.Context, w caller, d key.Draft, c *creation) (KeyData, error) {
	k := s.known(w.Who)
	if err := s.draft(ctx, w, k, d, gateway.StoredKey{}); err != nil {
		return KeyData{}, err
	}
	var err error
	if c.Session, err = d.New(w.Scope.Org(), s.checks(k, c.User)); err != nil {
		return KeyData{}, err
	}
	c.Fresh = s.fresh(k, d.Policies())
	chosen := c.ID != ""
	if !chosen && c.Session.Get("certificate").Text() == "" {
		c.ID = s.Secrets.NewKey()
	}
	if c.ID != "" && c.Session.Get("hmac_enabled").True() && c.Session.Get("hmac_string").Text() == "" {
		c.Session.Set("hmac_string", doc.NewString(s.Secrets.NewKey())) // made here, so that a repeated step sends the same secret
	}
	for tries := 0; ; tries++ {
		about := s.title(w.Scope.Org(), c.name().Text)
		if chosen {
			if about, err = s.over(ctx, w, k, c); err != nil {
				return KeyData{}, err
			}
		}
		switch err := s.make.Run(ctx, w.Scope, about, c); {
		case err == nil:
			return view(w.Scope.Org(), c.out, c.name(), true), nil
		case tries > 0 || !chosen || c.User || !errors.Is(err, gateway.ErrTaken):
			return KeyData{}, answered(err)
		} // another call has created a key with this name meanwhile: try again, now to replace it
	}
}

// over checks whether the key with a chosen name exists, and returns the subject of the
// intent that creates or replaces it. The caller may replace a key that it sees, but
// not a user.
func (s *Service) over(ctx context.Context, w caller, k sight, c *creation) (about intent.Subject, err error) {
	about = s.title(w.Scope.Org(), c.name().Text)
	// A key that an earlier call with this name has created may still be deleted again.
	if err := s.Intents.Settled(ctx, w.Scope, about); err != nil {
		return about, answered(err)
	}
	switch old, err := s.Gateways.Key(ctx, w.Scope.Org(), c.name()); {
	case errors.Is(err, gateway.ErrUnknown):
		return about, nil
	case err != nil:
		return about, answered(err)
	case c.User || key.IsUser(old.Session):
		return about, fault.New(fault.Conflict, codeTaken, "there is a user of this name already")
	default:
		c.Over = true
		return s.about(old.Hash), s.admit(ctx, w, k, old)
	}
}

// draft reads the APIs and policies that a draft names, and refuses those that the
// caller may not give.
func (s *Service) draft(ctx context.Context, w caller, k sight, d key.Draft, old gateway.StoredKey) error {
	if err := d.Bounded(); err != nil { // before the lookups
		return err
	}
	if err := s.learn(ctx, w, k, d.APIs(), d.Policies()); err != nil {
		return err
	}
	// The caller may not give rights to APIs that it does not see, nor policies with
	// such APIs, unless the key had them before. Nor may it give access to all APIs.
	if err := s.Policies.Allow(ctx, w.Scope.Org(), k.Known, d.APIs(), key.APIs(old.Session)); err != nil || k.All() {
		return err
	}
	had := map[string]bool{}
	for _, id := range key.Policies(old.Session) {
		had[id] = true
	}
	for _, id := range d.Policies() {
		if p, known := k.Policies[id]; known && !had[id] {
			if err := k.APIs().Admit(p); err != nil {
				return err
			}
		}
	}
	unlimited := !d.Grants(k.Policies)
	if was := old.Session != nil && !key.Grants(old.Session, k.Policies); s.Master && unlimited && !was {
		return policy.NotOwned()
	}
	return nil
}

type updateIn struct {
	named
	Suppress string    `query:"suppress_reset" doc:"1: the remaining quota is kept; otherwise counters start anew."`
	Draft    key.Draft `body:""`
}

// Update replaces the session of a key.
func (s *Service) Update(ctx context.Context, in updateIn) (KeyData, error) {
	k := s.known(in.Who)
	if err := s.turn(ctx, in.named); err != nil {
		return KeyData{}, err
	}
	f, err := s.find(ctx, in.named, k, s.UpdateByHash)
	if err != nil {
		return KeyData{}, err
	}
	return s.update(ctx, in, k, f)
}

type updateWithin struct {
	within
	Suppress string    `query:"suppress_reset" doc:"1: the remaining quota is kept; otherwise counters start anew."`
	Draft    key.Draft `body:""`
}

// UpdateWithin replaces the session of a key that gives access to an API.
func (s *Service) UpdateWithin(ctx context.Context, in updateWithin) (KeyData, error) {
	k := s.known(in.Who)
	if err := s.turn(ctx, in.named()); err != nil {
		return KeyData{}, err
	}
	f, err := s.inside(ctx, in.within, k, s.UpdateByHash)
	if err != nil {
		return KeyData{}, err
	}
	return s.update(ctx, updateIn{in.named(), in.Suppress, in.Draft}, k, f)
}

func (s *Service) update(ctx context.Context, in updateIn, k sight, f found) (KeyData, error) {
	if err := s.draft(ctx, in.caller, k, in.Draft, f.StoredKey); err != nil {
		return KeyData{}, err
	}
	session, err := in.Draft.Over(f.Session, s.checks(k, false))
	if err != nil {
		return KeyData{}, err
	}
	certified := false // the gateway derived the key from its certificate
	if certificate := f.Session.Get("certificate").Text(); certificate != "" {
		derived, err := s.Gateways.Key(ctx, in.Scope.Org(), gateway.KeyName{Text: certificate})
		if err != nil && !errors.Is(err, gateway.ErrUnknown) {
			return KeyData{}, answered(err)
		}
		certified = err == nil && derived.Hash == f.Hash
	}
	if next := session.Get("certificate").Text(); certified && next != "" && next != f.Session.Get("certificate").Text() {
		m := &move{To: creation{Session: session, Fresh: s.fresh(k, in.Draft.Policies())}, From: f.name}
		if err := s.move.Run(ctx, in.Scope, s.about(f.Hash), m, s.also(in.Scope.Org(), f)...); err != nil {
			return KeyData{}, answered(err)
		}
		return view(in.Scope.Org(), m.To.out, m.To.name(), false), nil
	}
	c := &change{Name: f.name, Session: session, Keep: yes(in.Suppress), Fresh: s.fresh(k, in.Draft.Policies())}
	if err := s.change.Run(ctx, in.Scope, s.about(f.Hash), c, s.also(in.Scope.Org(), f)...); err != nil {
		return KeyData{}, answered(err)
	}
	return view(in.Scope.Org(), c.out, f.name, false), nil
}

// Delete deletes a key.
func (s *Service) Delete(ctx context.Context, in named) (operation.Receipt, error) {
	if err := s.turn(ctx, in); err != nil {
		return operation.Receipt{}, err
	}
	f, err := s.find(ctx, in, s.known(in.Who), s.DeleteByHash)
	if err != nil {
		return operation.Receipt{}, err
	}
	return s.delete(ctx, in.caller, f)
}

// DeleteWithin deletes a key that gives access to an API.
func (s *Service) DeleteWithin(ctx context.Context, in within) (operation.Receipt, error) {
	if err := s.turn(ctx, in.named()); err != nil {
		return operation.Receipt{}, err
	}
	f, err := s.inside(ctx, in, s.known(in.Who), s.DeleteByHash)
	if err != nil {
		return operation.Receipt{}, err
	}
	return s.delete(ctx, in.caller, f)
}

func (s *Service) delete(ctx context.Context, w caller, f found) (operation.Receipt, error) {
	err := s.drop.Run(ctx, w.Scope, s.about(f.Hash), &removal{Name: f.name, Told: s.told("deleted", f.StoredKey)}, s.also(w.Scope.Org(), f)...)
	if err != nil {
		return operation.Receipt{}, answered(err)
	}
	return operation.Receipt{Message: "Key deleted successfully."}, nil
}

type previewIn struct {
	caller
	Draft key.Draft `body:""`
}

// Preview returns the key that a draft would make. Nothing is stored.
func (s *Service) Preview(ctx context.Context, in previewIn) (KeyData, error) {
	k := s.known(in.Who)
	if err := s.draft(ctx, in.caller, k, in.Draft, gateway.StoredKey{}); err != nil {
		return KeyData{}, err
	}
	session, err := in.Draft.New(in.Scope.Org(), s.checks(k, in.Draft.User() != ""))
	if err == nil {
		draft := session
		err = patiently(ctx, s.fresh(k, in.Draft.Policies()), func() (err error) {
			session, err = s.Gateways.PreviewKey(ctx, in.Scope.Org(), draft)
			return err
		})
	}
	if err != nil {
		return KeyData{}, answered(err)
	}
	return KeyData{Session: key.Shown(session, false)}, nil
}
