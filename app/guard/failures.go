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

// CodeTooMany is the code of the fault for a wrong credential after many others from
// the same address.
const CodeTooMany = "auth.too_many"

// Bounds of the counts of wrong credentials.
const (
	failureWindow = time.Minute
	maxAddresses  = 10_000
)

// Failures limits wrong credentials by client address. A right credential is never
// refused, however many wrong ones came from its address, because all callers behind an
// unknown proxy share an address.
type Failures struct {
	Limit int // wrong credentials from one address in a minute; 0: no limit
	Now   system.Clock
	Log   *slog.Logger

	mu     sync.Mutex
	counts map[netip.Prefix]*failures
}

// failures is the count of one address.
type failures struct {
	since time.Time
	n     int
}

// count counts the refusal of a caller and returns the error to respond with. A call
// without any credential does not count.
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

// makeRoom removes expired counts when there are many addresses, and arbitrary ones if
// that is not enough.
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
		if len(f.counts) < maxAddresses*9/10 { // so that the next addresses need not search again
			return
		}
		delete(f.counts, from)
	}
}

// network returns the network that counts as one address: an IPv4 address, or the /64
// of an IPv6 address, which is what one subscriber has.
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
