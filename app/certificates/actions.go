package certificates

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// told is the payload about a certificate in lists of intents.
type told struct {
	Action string          `json:"action"`
	ID     string          `json:"cert_id"`
	Key    json.RawMessage `json:"deleted_key,omitempty"` // the key that was deleted with it, in the form of key events
}

// addition is the intent to upload a certificate.
type addition struct {
	ID  string `json:"id"`
	PEM string `json:"pem"`
}

func (s *Service) additionPlan(org tenant.ID, c *addition) intents.Plan {
	return intents.Plan{Steps: []intents.Step{{Name: "add", Do: func(ctx context.Context) error {
		_, err := s.Gateways.AddCertificate(ctx, org, []byte(c.PEM))
		if errors.Is(err, gateway.ErrTaken) && intents.Repeated(ctx) {
			return nil
		}
		return err
	}}}, Did: store.Created, Told: func() any { return told{Action: "added", ID: c.ID} }}
}

// removal is the intent to delete a certificate.
type removal struct {
	ID string `json:"id"`
}

func (s *Service) removalPlan(org tenant.ID, c *removal) intents.Plan {
	return intents.Plan{Steps: []intents.Step{{Name: "delete", Do: func(ctx context.Context) error {
		if !intents.Repeated(ctx) { // of several calls that delete the certificate, only one succeeds
			if _, err := s.Gateways.Certificate(ctx, org, c.ID); err != nil {
				return err
			}
		}
		return s.Gateways.DeleteCertificate(ctx, org, c.ID)
	}}}, Did: store.Deleted, Told: func() any { return told{Action: "deleted", ID: c.ID} }}
}

// detachment is the intent to remove a certificate from everything that uses it: first
// the key of the certificate is deleted, then all APIs are changed in one commit.
type detachment struct {
	ID string `json:"id"`
	// APIs are the APIs that used it at the time of the request: the commit does not
	// search all the others.
	APIs []string        `json:"apis"`
	Key  json.RawMessage `json:"deleted_key,omitempty"` // the payload about the key, if there is one
}

func (s *Service) detachmentPlan(org tenant.ID, c *detachment) intents.Plan {
	return intents.Plan{
		Steps: []intents.Step{{Name: "delete key", Do: func(ctx context.Context) error {
			err := s.Keys.DeleteKey(ctx, org, gateway.KeyName{Text: c.ID})
			if errors.Is(err, gateway.ErrUnknown) {
				if !intents.Repeated(ctx) { // another call has deleted the key, and reports it
					c.Key = nil
				}
				return nil
			}
			return err
		}}},
		Close: func(ctx context.Context, w store.Writer) error {
			now := s.APIs.Now()
			for _, api := range c.APIs {
				err := s.APIs.Put(ctx, w, api, func(a apidef.API) (apidef.API, error) { return a.WithoutCertificate(c.ID, now) })
				if err != nil && fault.KindOf(err) != fault.NotFound { // an API that was deleted meanwhile needs no change
					return err
				}
			}
			return nil
		},
		Did:  store.Updated,
		Told: func() any { return told{"detached", c.ID, c.Key} },
	}
}
