// Package keys holds the use cases around keys and basic-auth users, which the gateways
// store (docs/wire/keys.md).
package keys

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/password"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Settings are the configuration settings for keys (docs/wire/keys.md#settings). The
// zero Settings are the defaults.
type Settings struct {
	Hashed       bool            // hash_keys: gateways know keys by their hashes
	ListHashes   bool            // enable_hashed_keys_listing
	UpdateByHash bool            // enable_update_key_by_hash
	DeleteByHash bool            // enable_delete_key_by_hash
	NotByUser    bool            // disable_key_actions_by_username
	Master       bool            // enable_master_keys
	Password     password.Policy // of basic-auth users: schemas/basic_auth.json
}

// Config is the configuration of a Service.
type Config struct {
	Settings
	Gateways gateway.Keys
	// For what a purge removes besides keys.
	Certificates gateway.Certificates
	Limits       gateway.Installation
	Policies     *policies.Service
	Intents      *intents.Service
	Store        store.Store
	Secrets      secret.Keys
	Now          system.Clock
	PageSize     int
	Exists       func(context.Context, tenant.ID) (bool, error) // reports whether an organisation exists
}

// Service manages keys.
type Service struct {
	Config
	make   intents.Runner[creation]
	change intents.Runner[change]
	move   intents.Runner[move]
	drop   intents.Runner[removal]
	empty  intents.Runner[purge]
}

// New returns a service, and registers its actions with the intents.
func New(c Config) *Service {
	s := &Service{Config: c}
	s.make = intents.Add(c.Intents, intents.Action[creation]{Name: "keys.create", Plan: s.creating})
	s.change = intents.Add(c.Intents, intents.Action[change]{Name: "keys.update", Plan: s.changing})
	s.move = intents.Add(c.Intents, intents.Action[move]{Name: "keys.move", Plan: s.moving})
	s.drop = intents.Add(c.Intents, intents.Action[removal]{Name: "keys.delete", Plan: s.dropping})
	s.empty = intents.Add(c.Intents, intents.Action[purge]{Name: "keys.purge", Plan: s.purging})
	return s
}

// Codes of faults.
const (
	codeMissing = key.Kind + ".not_found"
	codeForeign = key.Kind + ".foreign"
	codeTaken   = key.Kind + ".taken"
	codeRefused = key.Kind + ".refused"
	codeGateway = key.Kind + ".gateway"
	codeByUser  = key.Kind + ".by_user"
	codeUser    = key.Kind + ".user"
	codePurge   = key.Kind + ".purge"
)

var missing error = fault.New(fault.NotFound, codeMissing, "key not found")

// answered turns errors of gateways into faults.
func answered(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gateway.ErrUnknown):
		return missing
	case errors.Is(err, gateway.ErrUnlisted):
		return fault.New(fault.NotFound, codeMissing, "gateways list no keys").Because(err)
	case errors.Is(err, gateway.ErrForeign):
		return fault.New(fault.Invalid, codeForeign, "Attempted access to non-owned key.")
	case errors.Is(err, gateway.ErrTaken):
		return fault.New(fault.Conflict, codeTaken, "there is a key of this name or certificate already")
	case errors.Is(err, gateway.ErrRefused):
		return fault.New(fault.Invalid, codeRefused, "the gateway refuses the key: it may not have loaded a policy yet, or does not know a certificate").Because(err)
	case gateway.Away(err):
		return fault.New(fault.Internal, codeGateway, "gateways do not answer as they should").Because(err)
	}
	return err
}

// subject returns the ID of the subject of an intent about a key: never the key itself.
func (s *Service) subject(hash string) string {
	if s.Hashed {
		return hash
	}
	return s.Secrets.Digests(hash)[0]
}

// sight decides which keys one caller sees.
type sight struct{ *policies.Known }

// learn reads the APIs and policies that a session names.
func (s *Service) learn(ctx context.Context, w caller, k sight, apis, ids []string) error {
	return s.Store.View(ctx, w.Scope, func(r store.Reader) error { return k.Learn(ctx, r, apis, ids) })
}

// reach returns the APIs that a stored key gives access to, by its own rights or by
// policies.
func (k sight) reach(stored gateway.StoredKey) []string {
	apis := key.APIs(stored.Session)
	for _, id := range key.Policies(stored.Session) {
		if p, known := k.Policies[id]; known {
			apis = append(apis[:len(apis):len(apis)], p.APIs()...)
		}
	}
	return apis
}

// sees reports whether the caller may see a key: it must see one of the key's APIs, or
// none of them may exist any more (docs/wire/ownership.md#rules).
func (s *Service) sees(ctx context.Context, w caller, k sight, stored gateway.StoredKey) (bool, error) {
	if k.All() {
		return true, nil
	}
	err := s.learn(ctx, w, k, key.APIs(stored.Session), key.Policies(stored.Session))
	return err == nil && k.APIs().Shown(k.reach(stored)), err
}

// Admit refuses a key that a caller may not see.
func (s *Service) Admit(ctx context.Context, scope tenant.Scope, who operation.Principal, stored gateway.StoredKey) error {
	return s.admit(ctx, caller{scope, who}, s.known(who), stored)
}

// admit refuses a key that the caller may not see.
func (s *Service) admit(ctx context.Context, w caller, k sight, stored gateway.StoredKey) error {
	switch ok, err := s.sees(ctx, w, k, stored); {
	case err != nil:
		return err
	case !ok:
		return policy.NotOwned()
	}
	return nil
}

// checks returns the facts that the rules for a session need.
func (s *Service) checks(k sight, user bool) key.Checks {
	return key.Checks{Master: s.Master, User: user, Password: s.Password, APIs: k.APIs(), Policies: k.Policies}
}

// known returns an empty cache of what a caller sees.
func (s *Service) known(who operation.Principal) sight { return sight{s.Policies.Known(who)} }
