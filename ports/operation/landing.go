package operation

import (
	"net/netip"
	"time"
)

// Landing is the response to a browser that logs in or out: an envelope or, with a Location, a
// redirect to another page. Only rows with this response set cookies.
type Landing struct {
	Receipt
	Who      Principal // who logged in or out, for audit
	Location string    // where the browser is redirected; "": it gets the envelope
	Cookies  []Cookie
}

// Enters implements Entering.
func (l Landing) Enters() (Principal, []Cookie) { return l.Who, l.Cookies }

// Entering is a response to a browser that logs in or out.
type Entering interface {
	// Enters returns who logged in or out, and the cookies to set.
	Enters() (who Principal, cookies []Cookie)
}

// Visit is a value for a browser that logs in or out.
type Visit[T any] struct {
	Value   T
	Who     Principal
	Cookies []Cookie
}

// Enters implements Entering.
func (v Visit[T]) Enters() (Principal, []Cookie) { return v.Who, v.Cookies }

// Browser is what a browser sends: its session token and its User-Agent.
type Browser struct{ Token, Agent string }

// Names of cookies.
const (
	SessionCookie = "authorisation" // the credential of a browser
	ProofCookie   = "csrf_token"    // the value that scripts send back in ProofHeader
	DeviceCookie  = "known_device"  // says that a user has logged in with this browser
)

// ProofHeader carries the value of ProofCookie: only scripts of the control plane's pages can
// send it.
const ProofHeader = "X-CSRF-Token"

// Cookie is set for the whole site, or for Path. Browsers do not send it with requests that
// pages of other sites make, except when the user follows a link.
type Cookie struct {
	Name, Value string
	Path        string        // "": "/"
	Life        time.Duration // 0: the browser deletes it now
	Script      bool          // scripts of the control plane's pages may read it
	SameSite    string        // Strict, Lax or None; "": Lax
	Secure      bool          // sent over TLS only
}

// Origin is where a call comes from.
type Origin struct {
	Remote string // address of the caller, as reported by trusted proxies
	Peer   string // address of the connection
}

// Network returns the key under which callers are counted: an IPv4 address, or the /64 of an
// IPv6 address, because one subscriber has a /64. A text that is not an address is returned
// unchanged.
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
	p, _ := addr.Prefix(64) // every IPv6 address has a /64
	return p.String()
}

// ChangesState reports whether calls of the row may change anything: pages of other sites must
// not be able to make a browser send them.
func (s *Spec) ChangesState() bool { return s.Method != "GET" || s.Intent != "read" }
