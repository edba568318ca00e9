package serve

import (
	"math"
	"runtime/debug"
	"testing"
)

// TestMemory: the bounds of bodies and of the documents of an organisation fit into the
// memory, together with what processing them takes; settings override them.
func TestMemory(t *testing.T) {
	const mb = 1 << 20
	for _, memory := range []int64{256 * mb, 384 * mb, 512 * mb, 1024 * mb, 24 << 30} {
		bodies, organisation := bodyMemory(0, memory), organisationBytes(2<<30, memory)
		if bodies < leastBodies || bodies > usualBodies || organisation < min(memory/10, 2<<30) || organisation > 2<<30 {
			t.Errorf("%d MiB: %d for bodies, %d for an organisation", memory/mb, bodies/mb, organisation/mb)
		}
		if all := withoutAny + bodies*5/2 + 2*organisation; bodies > leastBodies && all > memory {
			t.Errorf("%d MiB: %d MiB in all", memory/mb, all/mb)
		}
	}
	if bodyMemory(0, 0) != usualBodies || bodyMemory(5*mb, 256*mb) != 5*mb || organisationBytes(0, 256*mb) != 0 || organisationBytes(7, 0) != 7 {
		t.Error("settings, or memory that is not known")
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	newThrift(1000 * mb)
	if limit := debug.SetMemoryLimit(-1); limit != 900*mb {
		t.Errorf("collecting takes precedence from %d MiB", limit/mb)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if newThrift(0); debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Error("there is a limit, of nothing that is known")
	}
	if machine() < 64*mb {
		t.Error("the memory of this machine is not known")
	}
}
