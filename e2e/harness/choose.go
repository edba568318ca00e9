package harness

import (
	"errors"
	"fmt"
	"os"
)

// engineVariable selects an engine: "container" or "local"; empty tries both in this
// order.
const engineVariable = "GATEHOUSE_TEST_ENGINE"

// choose selects the engine for a new server, without starting it.
func choose(svc *service, port int, secret string) (backend, error) {
	wanted := os.Getenv(engineVariable)
	switch wanted {
	case "", "container", "local":
	default:
		return nil, fmt.Errorf("%s is %q; it must be container, local or empty", engineVariable, wanted)
	}
	var reasons []error
	if wanted != "local" {
		b, err := newContainer(svc, port, secret)
		if err == nil {
			return b, nil
		}
		reasons = append(reasons, fmt.Errorf("no container: %w", err))
	}
	if wanted != "container" {
		b, err := newLocal(svc, port, secret)
		if err == nil {
			return b, nil
		}
		reasons = append(reasons, fmt.Errorf("no local server: %w", err))
	}
	return nil, fmt.Errorf("the tests need a %s server. Start a container engine, or install %s, or (for tests "+
		"that do not stop the server) set %s; %w. Attempts:\n%w",
		svc.name, svc.hint, svc.external, errAbsent, errors.Join(reasons...))
}
