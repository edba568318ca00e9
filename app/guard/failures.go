package guard

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// CodeTooMany is the code of the fault that answers a wrong credential after many
// others from the same address.
const CodeTooMany = "auth.too_many"

// Bounds of what is remembered of wrong credentials.
const (
	failureWindow = time.Minute
	maxAddresses  = 10_000
)

// Failures limits wrong credentials by the address that they come from. A right
// credential is never refused, however many wrong ones came from its address:
// behind a proxy that is not known as one all callers share an address.
type Failures struct {
	Limit int // of wrong credentials from one address in a minute; 0: none
	Now   system.Clock
	Log   *slog.Logger

	mu     sync.Mutex
	counts map[netip.Prefix]*failures
}

// failures are those of one address.
type failures struct {
	since time.Time
	n     int
}

// count notes the refusal of a caller and returns what to answer. A call without
// any credential is no guess.
func (f *Failures) count(ctx context.Context, c *operation.Call, err error) error {
	from, ok := network(c.Remote)
	refused := fault.KindOf(err) == fault.Unauthenticated || fault.CodeOf(err) == CodeNodeSecret
	if f == nil || f.Limit <= 0 || !ok || !refused || c.Token == "" {
		return err
	}
	switch n := f.add(from); {
	case n <= f.Limit:
		return err
	case n == f.Limit+1:
		f.Log.LogAttrs(ctx, slog.LevelWarn, "many wrong credentials come from one address; further ones get 429 for a minute",
			slog.String("address", from.String()), slog.String("surface", string(c.Spec.Surface)))
	}
	return fault.New(fault.TooMany, CodeTooMany, "Too many wrong credentials from this address; try again in a minute")
}

func (f *Failures) add(from netip.Prefix) int {
	now := f.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.counts[from]
	if at == nil || now.Sub(at.since) >= failureWindow {
		f.makeRoom(now)
		at = &failures{since: now}
		f.counts[from] = at
	}
	at.n++
	return at.n
}

// makeRoom forgets what is over when there are many addresses, and any of them
// when that is not enough.
func (f *Failures) makeRoom(now time.Time) {
	if f.counts == nil {
		f.counts = map[netip.Prefix]*failures{}
	}
	if len(f.counts) < maxAddresses {
		return
	}
	for from, at := range f.counts {
		if now.Sub(at.since) >= failureWindow {
			delete(f.counts, from)
		}
	}
	for from := range f.counts {
		if len(f.counts) < maxAddresses*9/10 { // so that the next many need not look again
			return
		}
		delete(f.counts, from)
	}
}

// network returns what counts as one address: an IPv4 address, or the /64 of an
// IPv6 address, which is what one subscriber has.
func network(remote string) (netip.Prefix, bool) {
	addr, err := netip.ParseAddr(remote)
	if at, failed := netip.ParseAddrPort(remote); failed == nil {
		addr, err = at.Addr(), nil
	}
	if err != nil {
		return netip.Prefix{}, false
	}
	bits := 32
	if addr = addr.Unmap().WithZone(""); addr.Is6() {
		bits = 64
	}
	p, err := addr.Prefix(bits)
	return p, err == nil
}
