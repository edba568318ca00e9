package session

import (
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// tried is the keys under which an attempt is counted.
type tried struct{ name, address string }

// deviceSize is the length of the ID of a device, which rand.Text makes.
const deviceSize = 26

func deviceText(email, nonce string) string { return "device\x00" + nonce + "\x00" + email }

// take counts an attempt. It returns an error if the caller must wait.
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

// waiting returns the fault that says how long the caller must wait.
func waiting(wait time.Duration) error {
	seconds := int((wait + time.Second - 1) / time.Second)
	f := fault.New(fault.TooMany, CodeWait, "Retry in %d seconds.", seconds)
	f.Wait = seconds
	return f
}

// network returns the network that counts as the address of a caller: an IPv4 address,
// or the /64 of an IPv6 address, which is what one subscriber has.
func (s *Service) network(from operation.Origin) string {
	return operation.Network(s.remote(from))
}

// remote returns the address of a caller, from proxies only if they are trusted.
func (s *Service) remote(from operation.Origin) string {
	if s.cfg.Direct {
		return from.Peer
	}
	return from.Remote
}

// giveBack takes back the count of an attempt that was not wrong.
func (s *Service) giveBack(t tried) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addresses.GiveBack(t.address)
	s.names.GiveBack(t.name)
}
