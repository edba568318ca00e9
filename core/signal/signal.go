// Package signal says which announcements to gateways a commit causes, and what
// they look like on the wire (contract dashboard.md 6.2, gateway.md 6).
package signal

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/registry/clientidp"
)

// Command tells a gateway what to do.
type Command string

// The commands this service sends.
const (
	ClientIdPChanged Command = "ClientIdPChanged" // refresh the registry of identity providers
	GroupReload      Command = "GroupReload"      // reload everything
)

// Signal is one announcement.
type Signal struct {
	Command Command
	Payload string // gateways do not read it for the commands above; people do
}

// Change is what the rules below need to know about a changed record.
type Change struct {
	Kind string
	ID   string
	Key  func(index string) string // value of one of the record's indexes, or ""; nil: it has none
}

// row says what a change of one kind announces.
type row struct {
	command Command
	alias   string // index that holds the identifier users know; "" means that it is the ID
}

// table is the one list of what concerns gateways.
var table = map[string]row{
	clientidp.Kind: {ClientIdPChanged, "client_idp_id"},
}

// Of returns the announcements of one commit: one per command and subject,
// however many records the commit touched for it.
func Of(changes []Change) []Signal {
	var out []Signal
	seen := map[Signal]bool{}
	for _, c := range changes {
		r, ok := table[c.Kind]
		if !ok {
			continue
		}
		s := Signal{r.command, c.subject(r.alias)}
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// subject names the record the way users do.
func (c Change) subject(index string) string {
	if index != "" && c.Key != nil {
		if alias := c.Key(index); alias != "" {
			return alias
		}
	}
	return c.ID
}

// CatchUp returns what to announce when it is no longer known what changed:
// gateways then reload everything, the registry included.
func CatchUp() []Signal { return []Signal{{Command: GroupReload}} }

// text is a payload as a gateway decodes it: bytes that are no UTF-8 would not
// survive JSON, and the signature would be over something else.
func (s Signal) text() string { return strings.ToValidUTF8(s.Payload, "\ufffd") }
