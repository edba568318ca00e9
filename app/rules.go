package app

import (
	"go.uber.org/fx"

	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/rulebook"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

func newRules(lc fx.Lifecycle, s embedded, t Tools, ops table) (rules.Engine, error) {
	if s.rules == nil {
		return rules.BuiltIn{}, nil
	}
	t.Operations = func() []operation.Operation { return ops }
	e, err := s.rules(t)
	if err != nil {
		return nil, &refusal{err}
	}
	background(lc, e)
	return e, nil
}

// newWorkshop returns nil when the API of rules is switched off.
func newWorkshop(lc fx.Lifecycle, s embedded, t Tools, ops table, e rules.Engine) (rules.Workshop, error) {
	if s.workshop == nil {
		return nil, nil
	}
	t.Operations = func() []operation.Operation { return ops }
	w, err := s.workshop(t)
	if err != nil {
		return nil, &refusal{err}
	}
	if any(w) != any(e) {
		background(lc, w)
	}
	return w, nil
}

// newChecker returns nil where rules are stored unseen.
func newChecker(s embedded, t Tools, ops table) rules.Checker {
	if s.checker == nil {
		return nil
	}
	t.Operations = func() []operation.Operation { return ops }
	return s.checker(t)
}

func newRulebook(s embedded, a *App, id *identity.Service, trail *audit.Service) *rulebook.Service {
	return rulebook.New(rulebook.Config{
		Identity: id, Workshop: func() rules.Workshop { return a.workshop }, Find: a.find, Decides: s.rules != nil, Trail: trail.Newest,
	})
}
