package operation

import (
	"net/netip"
	"time"
)

// Landing is the answer to a browser that enters or leaves: an envelope or, with a
// Location, the way to another page. Only rows that answer with it set cookies.
type Landing struct {
	Receipt
	Who      Principal // who entered or left, for audit
	Location string    // where the browser goes on; "": it stays and gets the envelope
	Cookies  []Cookie
}

// Enters implements Entering.
func (l Landing) Enters() (Principal, []Cookie) { return l.Who, l.Cookies }

// Entering is an answer to a browser that enters or leaves.
type Entering interface {
	// Enters returns who entered or left, and the cookies to set.
	Enters() (who Principal, cookies []Cookie)
}

// Visit is a value for a browser that enters or leaves.
type Visit[T any] struct {
	Value   T
	Who     Principal
	Cookies []Cookie
}

// Enters implements Entering.
func (v Visit[T]) Enters() (Principal, []Cookie) { return v.Who, v.Cookies }

// Browser is what a browser presents: the token of its session, and what it says it is.
type Browser struct{ Token, Agent string }

// Names of cookies.
const (
	SessionCookie = "authorisation" // the credential of a browser
	ProofCookie   = "csrf_token"    // what scripts send back in ProofHeader
	DeviceCookie  = "known_device"  // says that somebody has logged in with this browser
)

// ProofHeader carries the value of ProofCookie: only scripts of our own pages can send it.
const ProofHeader = "X-CSRF-Token"

// Cookie is set for the whole site, or below Path; pages of other sites do not send it
// but when somebody follows a link.
type Cookie struct {
	Name, Value string
	Path        string        // "": "/"
	Life        time.Duration // 0: the browser forgets it now
	Script      bool          // scripts of our pages may read it
	SameSite    string        // Strict, Lax or None; "": Lax
	Secure      bool          // goes over TLS only
}

// Origin is where a call comes from.
type Origin struct {
	Remote string // address of the caller, as proxies that are trusted say
	Peer   string // address of the connection
}

// Network returns what counts as one caller by the address of a connection: an IPv4 address,
// or the /64 of an IPv6 address, which is what one subscriber has. What is no address counts
// as it is.
func Network(remote string) string {
	addr, err := netip.ParseAddr(remote)
	if at, failed := netip.ParseAddrPort(remote); failed == nil {
		addr, err = at.Addr(), nil
	}
	if err != nil {
		return remote
	}
	if addr = addr.Unmap().WithZone(""); addr.Is4() {
		return addr.String()
	}
	p, _ := addr.Prefix(64) // every IPv6 address has one
	return p.String()
}

// ChangesState reports whether calls of the row may change anything: pages of other
// sites must not be able to bring them about.
func (s *Spec) ChangesState() bool { return s.Method != "GET" || s.Intent != "read" }
