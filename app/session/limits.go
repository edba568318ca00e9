package session

import (
	"net/netip"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// tried names what an attempt counts for.
type tried struct{ name, address string }

// tried tells for whom an attempt counts. A browser with which the user has logged in
// before has a count of its own: however often others guess at a name, its owner gets
// in.
func (s *Service) tried(in loginIn, email string) tried {
	t := tried{name: email, address: s.network(in.Origin)}
	nonce, proof, _ := strings.Cut(in.Device, ".")
	if len(nonce) == deviceSize && session.Proven(proof, s.users.Keys.Digests(deviceText(email, nonce))) {
		t.name = "device " + nonce
	}
	return t
}

// deviceSize is how long the name of a device is: that of rand.Text.
const deviceSize = 26

func deviceText(email, nonce string) string { return "device\x00" + nonce + "\x00" + email }

// take counts an attempt, or says how long to wait.
func (s *Service) take(t tried) error {
	now := s.users.Now()
	s.mu.Lock()
	wait := s.addresses.Take(now, t.address)
	if wait == 0 {
		if wait = s.names.Take(now, t.name); wait > 0 {
			s.addresses.GiveBack(t.address)
		}
	}
	s.mu.Unlock()
	if wait == 0 {
		return nil
	}
	if s.cfg.Hidden {
		return wrong
	}
	return waiting(wait)
}

// waiting says how long somebody must wait.
func waiting(wait time.Duration) error {
	seconds := int((wait + time.Second - 1) / time.Second)
	f := fault.New(fault.TooMany, CodeWait, "Retry in %d seconds.", seconds)
	f.Wait = seconds
	return f
}

// network returns what counts as the address of a caller: an IPv4 address, or the /64 of an IPv6
// address, which is what one subscriber has.
func (s *Service) network(from operation.Origin) string {
	return operation.Network(s.remote(from))
}

// remote returns the address of a caller, as far as it is believed.
func (s *Service) remote(from operation.Origin) string {
	if s.cfg.Direct {
		return from.Peer
	}
	return from.Remote
}

// giveBack says that an attempt was not wrong.
func (s *Service) giveBack(t tried) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addresses.GiveBack(t.address)
	s.names.GiveBack(t.name)
}

// parsed reads an address with or without a port; the zero Addr: it is none.
func parsed(remote string) netip.Addr {
	addr, err := netip.ParseAddr(remote)
	if at, failed := netip.ParseAddrPort(remote); failed == nil {
		addr, err = at.Addr(), nil
	}
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}
