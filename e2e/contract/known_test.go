package contract_test

import (
	"fmt"
	"strings"
)

// known is an error of the file: something it says, or leaves out, that the
// service rightly does otherwise.
type known struct {
	route    string // "*": any
	status   int    // 0: any
	location string // segments that are "*" stand for any one, "**" at the end for all that follow
	reason   string // with the part of dashboard.md that decides
	used     bool
}

// errata are the known errors of the file.
var errata = []*known{
	{route: "*", location: "/Meta", reason: "envelopes always have Meta, which may be null, as the file's own examples show: 2.2"},
}

// excused reports whether a violation is a known error, and notes its use.
func excused(route string, v violation) bool {
	found := false
	for _, k := range errata {
		if (k.route == "*" || k.route == route) && (k.status == 0 || k.status == v.status) && matches(k.location, v.location) {
			k.used, found = true, true
		}
	}
	return found
}

func matches(pattern, location string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(location, "/")
	for i, w := range want {
		if w == "**" {
			return true
		}
		if i >= len(have) || w != "*" && w != have[i] {
			return false
		}
	}
	return len(want) == len(have)
}

func (k known) String() string {
	return fmt.Sprintf("%s, %d, %s (%s)", k.route, k.status, k.location, k.reason)
}
