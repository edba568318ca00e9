package issuers

import (
	"errors"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// Codes of the faults of steps.
const (
	CodeRefused = "portal_access.refused" // the dashboard, or the identity provider, does not do it
	CodeAway    = "portal_access.away"    // it does not answer as it should
)

// Explain says in the words of sagas why a dashboard has not done something: what it
// refuses is refused for good, and all else may work later. Its texts name no key.
func Explain(err error) error {
	for _, known := range []error{dashboard.ErrRefused, dashboard.ErrGone} {
		if errors.Is(err, known) {
			return fault.New(fault.Invalid, CodeRefused, "%s", err.Error())
		}
	}
	if err == nil || fault.KindOf(err) != fault.Internal {
		return err
	}
	return fault.New(fault.Unavailable, CodeAway, "%s", err.Error())
}
