package doc

import "strings"

// shown is how many bytes of a long name are kept at its beginning, and as many at its end.
const shown = 200

// Short returns a name as texts about a document show it: of a long one the beginning and the
// end. Clients choose how long names are, and one name may be in the places of many problems.
func Short(name string) string {
	if len(name) <= 2*shown {
		return name
	}
	return strings.ToValidUTF8(name[:shown], "") + "…" + strings.ToValidUTF8(name[len(name)-shown:], "")
}
