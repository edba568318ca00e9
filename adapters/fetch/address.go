package fetch

import "net/netip"

// special are networks, besides those that package netip knows, that are not part of
// the public Internet (IANA special-purpose address registries, RFC 6890), or that
// embed addresses of another family and so could hide a private address.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this network
	netip.MustParsePrefix("100.64.0.0/10"),    // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),     // documentation
	netip.MustParsePrefix("168.63.129.16/32"), // not special, but answers virtual machines of a cloud only
	netip.MustParsePrefix("192.88.99.0/24"),   // 6to4 relay
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"),  // documentation
	netip.MustParsePrefix("203.0.113.0/24"),   // documentation
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved, broadcast
	netip.MustParsePrefix("::/96"),            // IPv4-compatible
	netip.MustParsePrefix("::ffff:0:0:0/96"),  // IPv4-translated
	netip.MustParsePrefix("64:ff9b::/96"),     // NAT64
	netip.MustParsePrefix("64:ff9b:1::/48"),   // local NAT64
	netip.MustParsePrefix("100::/64"),         // discard
	netip.MustParsePrefix("2001::/23"),        // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"),    // documentation
	netip.MustParsePrefix("2002::/16"),        // 6to4
	netip.MustParsePrefix("3fff::/20"),        // documentation
	netip.MustParsePrefix("5f00::/16"),        // segment routing
	netip.MustParsePrefix("fec0::/10"),        // site-local, deprecated
}

// metadata are the addresses where clouds give virtual machines their credentials.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"),
	netip.MustParseAddr("169.254.170.2"), netip.MustParseAddr("169.254.170.23"), netip.MustParseAddr("169.254.42.42"), // for containers and pods, and of a smaller cloud
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd00:ec2::23"), netip.MustParseAddr("fd20:ce::254"), netip.MustParseAddr("fd00:42::42"),
}

// Private are the networks of an organisation: this machine, and addresses of RFC 1918,
// RFC 4193 and RFC 6598. Link-local addresses are not included.
func Private() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"),
		netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("fc00::/7"),
	}
}

// public reports whether an address belongs to the public Internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
