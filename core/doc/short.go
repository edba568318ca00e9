package doc

import "strings"

// shown is the number of bytes kept at the beginning and at the end of a long name.
const shown = 200

// Short returns a name for messages about a document: of a long name only the beginning and
// the end. Clients choose how long names are, and many problems may contain the same name.
func Short(name string) string {
	if len(name) <= 2*shown {
		return name
	}
	return strings.ToValidUTF8(name[:shown], "") + "…" + strings.ToValidUTF8(name[len(name)-shown:], "")
}
