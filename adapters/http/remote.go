package http

import (
	nethttp "net/http"
	"net/netip"
	"slices"
	"strings"
)

// remote returns the address of the caller: that of the peer, unless it is a
// proxy that is trusted. Then it is the last address in X-Forwarded-For that is
// no such proxy: those before it are what the caller says.
func (r *row) remote(req *nethttp.Request) string {
	if len(r.proxies) == 0 {
		return req.RemoteAddr
	}
	peer, err := netip.ParseAddrPort(req.RemoteAddr)
	if err != nil || !r.trusted(peer.Addr()) {
		return req.RemoteAddr
	}
	named := strings.Split(strings.Join(req.Header["X-Forwarded-For"], ","), ",")
	for _, text := range slices.Backward(named) {
		addr, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			break
		}
		if !r.trusted(addr) {
			return addr.String()
		}
	}
	return req.RemoteAddr
}

func (r *row) trusted(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(r.proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}
