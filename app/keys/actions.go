package keys

import (
	"context"
	"errors"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// creation is the intent to create or replace a key.
type creation struct {
	ID      string    `json:"id"` // "": the gateway derives it from the certificate
	Session *doc.Node `json:"session"`
	User    bool      `json:"user,omitempty"`  // the name of a basic-auth user, which must not exist yet
	Over    bool      `json:"over,omitempty"`  // the key exists, and is replaced
	Fresh   bool      `json:"fresh,omitempty"` // gateways may not have loaded a policy yet
	out     gateway.StoredKey
}

// name returns the name by which the key is found once it is created.
func (c *creation) name() gateway.KeyName {
	switch {
	case c.User:
		return gateway.KeyName{Text: c.ID, By: gateway.ByUser}
	case c.ID == "":
		return gateway.KeyName{Text: c.Session.Get("certificate").Text()}
	}
	return gateway.KeyName{Text: c.ID}
}

// creating returns the plan that creates a key. The caller learns the key only from the
// response. Without a response, the key is deleted again, unless it replaced another
// one.
func (s *Service) creating(org tenant.ID, c *creation) intents.Plan {
	step := intents.Step{Name: "create", Do: func(ctx context.Context) (err error) {
		if !c.Over && !intents.Repeated(ctx) {
			if _, err := s.Gateways.Key(ctx, org, c.name()); !errors.Is(err, gateway.ErrUnknown) {
				if err == nil {
					err = gateway.ErrTaken
				}
				return err
			}
		}
		err = patiently(ctx, c.Fresh, func() (err error) {
			c.out, err = s.Gateways.CreateKey(ctx, org, c.ID, c.Session)
			return err
		})
		if errors.Is(err, gateway.ErrTaken) && intents.Repeated(ctx) {
			c.out, err = s.Gateways.Key(ctx, org, c.name())
		}
		return err
	}}
	if !c.Over {
		step.Undo = func(ctx context.Context) error {
			if err := s.Gateways.DeleteKey(ctx, org, c.name()); !errors.Is(err, gateway.ErrUnknown) {
				return err
			}
			return nil
		}
	}
	did := store.Created
	if c.Over {
		did = store.Updated
	}
	return intents.Plan{Steps: []intents.Step{step}, Back: !c.Over, Did: did, Told: func() any { return s.told("created", c.out) }, Known: func() string {
		return s.subject(c.out.Hash)
	}}
}

// change is the intent to replace the session of a key.
type change struct {
	Name    gateway.KeyName `json:"name"`
	Session *doc.Node       `json:"session"`
	Keep    bool            `json:"keep,omitempty"`  // the counters stay
	Fresh   bool            `json:"fresh,omitempty"` // gateways may not have loaded a policy yet
	out     gateway.StoredKey
}

func (s *Service) changing(org tenant.ID, c *change) intents.Plan {
	return intents.Plan{Steps: []intents.Step{{Name: "update", Do: func(ctx context.Context) error {
		return patiently(ctx, c.Fresh, func() (err error) {
			c.out, err = s.Gateways.ReplaceKey(ctx, org, c.Name, c.Session, c.Keep)
			return err
		})
	}}}, Did: store.Updated, Told: func() any { return s.told("updated", c.out) }}
}

// move is the intent to replace the key of a certificate by the key of another
// certificate: gateways derive the key from the certificate.
type move struct {
	To   creation        `json:"to"`
	From gateway.KeyName `json:"from"`
}

func (s *Service) moving(org tenant.ID, m *move) intents.Plan {
	plan := s.creating(org, &m.To)
	plan.Back, plan.Did, plan.Known = false, store.Updated, nil
	plan.Steps = append(plan.Steps, s.deleting(org, m.From))
	plan.Told = func() any { return s.told("updated", m.To.out) }
	return plan
}

// deleting returns the step that deletes a key.
func (s *Service) deleting(org tenant.ID, name gateway.KeyName) intents.Step {
	return intents.Step{Name: "delete", Do: func(ctx context.Context) error {
		err := s.Gateways.DeleteKey(ctx, org, name)
		if errors.Is(err, gateway.ErrUnknown) && intents.Repeated(ctx) {
			return nil
		}
		return err
	}}
}

// removal is the intent to delete a key.
type removal struct {
	Name gateway.KeyName `json:"name"`
	Told message         `json:"told"`
}

func (s *Service) dropping(org tenant.ID, r *removal) intents.Plan {
	return intents.Plan{Steps: []intents.Step{s.deleting(org, r.Name)}, Did: store.Deleted, Told: func() any { return r.Told }}
}

// message is the payload about a key in events and in lists of intents.
type message struct {
	Action   string   `json:"action"`
	Hash     string   `json:"key_hash,omitempty"` // unless the hash is the key itself
	Alias    string   `json:"alias,omitempty"`
	Policies []string `json:"apply_policies"`
	APIs     []string `json:"apis"`
}

// Bounds of a message: names per list, and bytes of an alias.
const (
	mostTold  = 100
	longAlias = 256
)

func (s *Service) told(action string, k gateway.StoredKey) message {
	m := message{Action: action, Alias: k.Session.Get("alias").Text(), Policies: []string{}, APIs: []string{}}
	if s.Hashed {
		m.Hash = k.Hash
	}
	m.Alias = strings.ToValidUTF8(m.Alias[:min(len(m.Alias), longAlias)], "") // the cut may split a character
	m.Policies = append(m.Policies, first(key.Policies(k.Session))...)
	m.APIs = append(m.APIs, first(key.APIs(k.Session))...)
	return m
}

// Deleted returns the payload about a key that an action of another package deletes.
// Such an action has it in the member deleted_key of its own payload (Teller).
func (s *Service) Deleted(k gateway.StoredKey) any { return s.told("deleted", k) }

func first(list []string) []string { return list[:min(len(list), mostTold)] }

// about returns the subject of an intent about an existing key.
func (s *Service) about(hash string) intent.Subject {
	return intent.Subject{Kind: key.Kind, ID: s.subject(hash)}
}

// title returns the subject of an intent that creates a key with a name: its hash is
// not known yet.
func (s *Service) title(org tenant.ID, name string) intent.Subject {
	return intent.Subject{Kind: key.Kind, ID: s.Secrets.Digests(string(org) + "/" + key.Identifier(name))[0]}
}

// turn waits while a key with the name in a path is being created: until then, an
// existing key may still be deleted again.
func (s *Service) turn(ctx context.Context, n named) error {
	return answered(s.Intents.Settled(ctx, n.Scope, s.title(n.Scope.Org(), n.ID)))
}

// also returns further subjects of a change of a key that was found by its name, so
// that no key with this name is created meanwhile.
func (s *Service) also(org tenant.ID, f found) []intent.Subject {
	if f.name.By == gateway.ByHash {
		return nil
	}
	return []intent.Subject{s.title(org, f.name.Text)}
}
