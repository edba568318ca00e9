package oauth

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/oauthclient"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// told is the payload about a client in lists of intents.
type told struct {
	Action string `json:"action"`
	API    string `json:"api_id,omitempty"`
	Client string `json:"client_id"`
}

// saving is the intent to store a client: a new one, or a change of an existing one.
type saving struct {
	Name   gateway.ClientName `json:"name"`
	Draft  *oauthclient.Draft `json:"draft,omitempty"`  // nil: only the secret changes
	Secret string             `json:"secret,omitempty"` // "": unchanged
	// New means that no caller knows the ID yet: if the gateway does not respond, the
	// client is deleted again.
	New bool `json:"new,omitempty"`
	// Over means that a client with this ID exists, which is replaced.
	Over bool `json:"over,omitempty"`
	// Exists means that the client must exist.
	Exists bool `json:"exists,omitempty"`
	out    gateway.Client
}

func (s *Service) savingPlan(org tenant.ID, c *saving) intents.Plan {
	step := intents.Step{Name: "put", Do: func(ctx context.Context) error {
		c.out = gateway.Client{ID: c.Name.ID}
		if c.Exists {
			now, err := s.Gateways.Client(ctx, org, c.Name)
			if err != nil {
				return err
			}
			c.out = now
		}
		if d := c.Draft; d != nil {
			c.out.RedirectURI, c.out.Policy, c.out.Description, c.out.Meta = d.RedirectURI, d.Policy, d.Description, d.Kept()
		}
		if c.Secret != "" {
			c.out.Secret = c.Secret
		}
		return s.Gateways.PutClient(ctx, org, c.Name.API, c.out)
	}}
	did := store.Created
	if c.Exists || c.Over {
		did = store.Updated
	}
	if c.New {
		step.Undo = func(ctx context.Context) error { return s.Gateways.DeleteClient(ctx, org, c.Name) }
	}
	return intents.Plan{Steps: []intents.Step{step}, Back: c.New, Did: did, Told: func() any { return told{"saved", c.Name.API, c.Name.ID} }}
}

// removal is the intent to delete a client.
type removal struct {
	Name gateway.ClientName `json:"name"`
}

func (s *Service) removalPlan(org tenant.ID, c *removal) intents.Plan {
	return intents.Plan{Steps: []intents.Step{{Name: "delete", Do: func(ctx context.Context) error {
		if !intents.Repeated(ctx) {
			if _, err := s.Gateways.Client(ctx, org, c.Name); err != nil {
				return err
			}
		}
		return s.Gateways.DeleteClient(ctx, org, c.Name)
	}}}, Did: store.Deleted, Told: func() any { return told{"deleted", c.Name.API, c.Name.ID} }}
}

// revocation is the intent to revoke tokens of a client.
type revocation struct {
	Client string `json:"client"`
	Token  string `json:"token,omitempty"` // "": all
	Hint   string `json:"hint,omitempty"`
	Secret string `json:"secret,omitempty"`
}

func (s *Service) revocationPlan(org tenant.ID, c *revocation) intents.Plan {
	return intents.Plan{Steps: []intents.Step{{Name: "revoke", Do: func(ctx context.Context) error {
		if c.Token == "" {
			return s.Gateways.RevokeTokens(ctx, org, c.Client, c.Secret)
		}
		return s.Gateways.RevokeToken(ctx, org, c.Client, c.Token, c.Hint)
	}}}, Did: store.Updated, Known: func() string { return c.Client }, Told: func() any { return told{"revoked", "", c.Client} }}
}
