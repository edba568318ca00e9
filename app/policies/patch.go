package policies

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type patchIn struct {
	writeByID
	Patch operation.Patch `body:""`
}

// Patch changes parts of a policy, all or nothing. It is an addition of ours.
func (s *Service) Patch(ctx context.Context, in patchIn) (operation.Receipt, error) {
	return s.rewrite(ctx, in.writeByID, func(p policy.Policy) (policy.Draft, error) {
		text, err := in.applied(p, s.Room)
		if err != nil {
			return policy.Draft{}, err
		}
		return p.Edited(text)
	})
}

// applied returns the document of a policy, in the form that reads return, with the patch
// applied.
func (in patchIn) applied(p policy.Policy, room doc.Room) ([]byte, error) {
	old, err := p.View().AppendJSON(nil)
	if err != nil {
		return nil, err
	}
	text, err := in.Patch.Apply(old)
	if err != nil {
		return nil, err
	}
	if why := room.LackText(text, func() []byte { return old }); why != "" {
		return nil, fault.New(fault.TooLarge, codeLarge, "The policy would be too large to be sent back: %s", why)
	}
	return text, nil
}

// patches returns the document that Patch stores, for rules.
func (s *Service) patches(ctx context.Context, in patchIn) (out operation.Settled, err error) {
	if err := s.checkPath(in.ID); err != nil {
		return out, err
	}
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		p, err := s.get(ctx, r, in.byID)
		if err != nil {
			return err
		}
		text, err := in.applied(p.Value, s.Room)
		if err != nil {
			return err
		}
		d, err := p.Value.Edited(text)
		out = operation.Settled{Body: d.Complete().JSON(), At: p.Serial}
		return err
	})
	return out, err
}

// creates returns the document that Create stores, for rules.
func (s *Service) creates(_ context.Context, in createIn) (operation.Settled, error) {
	return operation.Settled{Body: in.Draft.Complete().JSON()}, nil
}

// replaces returns the document that Replace stores, for rules.
func (s *Service) replaces(_ context.Context, in replaceIn) (operation.Settled, error) {
	return operation.Settled{Body: in.Draft.Complete().JSON()}, nil
}
