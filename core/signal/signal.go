// Package signal says which announcements to gateways a commit causes, and what
// they look like on the wire (docs/wire/announcements.md).
package signal

import (
	"cmp"
	"slices"
)

// Command tells a gateway what to do.
type Command string

// The commands this service sends.
const (
	ApiAdded         Command = "ApiAdded"         // reload everything
	ApiUpdated       Command = "ApiUpdated"       // reload everything
	ApiRemoved       Command = "ApiRemoved"       // reload everything
	PolicyChanged    Command = "PolicyChanged"    // reload everything
	GroupReload      Command = "GroupReload"      // reload everything
	ClientIdPChanged Command = "ClientIdPChanged" // refresh the registry of identity providers

	DeleteAPICache             Command = "DeleteAPICache"             // drop the cached answers of an API
	InvalidateJWKSCacheForAPI  Command = "InvalidateJWKSCacheForAPI"  // drop the cached keys of an API
	KeySpaceUpdateNotification Command = "KeySpaceUpdateNotification" // drop the cached sessions of key hashes
	OAuthPurgeLapsedTokens     Command = "OAuthPurgeLapsedTokens"     // forget lapsed tokens
	UserKeyReset               Command = "UserKeyReset"               // use another access key in place of one that is worthless now
)

// Sealed reports whether the payload of a command is secret: it is kept encrypted until
// it is announced.
func (c Command) Sealed() bool { return c == UserKeyReset }

// KeyReset announces that an access key has taken the place of another one.
func KeyReset(old, key string) Signal {
	return Signal{UserKeyReset, old + "." + key + ":" + string(UserKeyReset)}
}

// Signal is one announcement.
type Signal struct {
	Command Command
	Payload string // the subject; gateways do not read it for commands that reload, people do
}

// Reloads reports whether gateways answer s by loading policies, APIs and
// identity providers again, whatever the payload (docs/wire/announcements.md#commands).
func (s Signal) Reloads() bool {
	switch s.Command {
	case ApiAdded, ApiUpdated, ApiRemoved, PolicyChanged, GroupReload:
		return true
	}
	return false
}

// Subject returns the identifier of the API, policy or provider that s is about. It is empty
// where the payload is another one: such payloads name keys.
func (s Signal) Subject() string {
	switch s.Command {
	case KeySpaceUpdateNotification, OAuthPurgeLapsedTokens, UserKeyReset:
		return ""
	}
	return s.Payload
}

// Op says what happened to a record.
type Op string

// Kinds of changes of a record.
const (
	Created Op = "created"
	Updated Op = "updated"
	Deleted Op = "deleted"
)

// Change is what the rules below need to know about a changed record.
type Change struct {
	Op   Op
	Kind string
	ID   string
	Key  func(index string) string // value of one of the record's indexes, or ""; nil: it has none
}

// Quiet is the index of records that gateways need not hear of: a record with
// any value in it was last changed in what only clients of this service see.
const Quiet = "quiet"

// Row says what changes of one kind announce.
type Row struct {
	Created, Updated, Deleted Command
	Alias                     string // index that holds the identifier users know; "" means that it is the ID
}

// Always returns the row of a kind whose changes all announce the same.
func Always(c Command, alias string) Row { return Row{c, c, c, alias} }

// Table has a row for each kind of records that concerns gateways, by name.
type Table map[string]Row

// About returns the kind whose changes a command announces, "" if it announces none.
func (t Table) About(c Command) string {
	for kind, r := range t {
		if c == r.Created || c == r.Updated || c == r.Deleted {
			return kind
		}
	}
	return ""
}

// Many is how many reloads one announcement takes the place of: more than that
// at once tell gateways nothing that one GroupReload does not.
const Many = 100

// Of returns the announcements of one commit: one per command and subject,
// however many records the commit touched for it. A GroupReload stands for all
// other reloads of its commit.
func (t Table) Of(changes []Change) []Signal {
	var out []Signal
	seen := map[Signal]bool{}
	reloads, group := 0, false
	for _, c := range changes {
		s, ok := t.signal(c)
		if !ok || seen[s] {
			continue
		}
		seen[s] = true
		out = append(out, s)
		if s.Reloads() {
			reloads, group = reloads+1, group || s.Command == GroupReload
		}
	}
	if !group && reloads <= Many {
		return out
	}
	// One GroupReload, in the place of the last of them, stands for all that reload.
	grouped, last := []Signal{}, 0
	for _, s := range out {
		if s.Reloads() {
			last = len(grouped)
		} else {
			grouped = append(grouped, s)
		}
	}
	return slices.Insert(grouped, last, Signal{Command: GroupReload})
}

// signal returns what one change announces, if anything.
func (t Table) signal(c Change) (Signal, bool) {
	if c.Kind == NoticeKind {
		s := Signal{Command(c.key(noticeCommand)), c.key(noticePayload)}
		return s, c.Op != Deleted && slices.Contains(commands, s.Command) // removing a notice announces nothing
	}
	r, ok := t[c.Kind]
	if !ok {
		return Signal{}, false
	}
	command := map[Op]Command{Created: r.Created, Updated: r.Updated, Deleted: r.Deleted}[c.Op]
	if command == "" || c.Op == Updated && c.key(Quiet) != "" {
		return Signal{}, false
	}
	return Signal{command, cmp.Or(c.key(r.Alias), c.ID)}, true // named the way users do
}

func (c Change) key(index string) string {
	if index == "" || c.Key == nil {
		return ""
	}
	return c.Key(index)
}

// CatchUp returns what to announce when it is not known what changed, or which
// announcements arrived: gateways then load everything again, the registry first
// of all, which they do at once and not with their next tick.
func CatchUp() []Signal { return []Signal{{Command: ClientIdPChanged}, {Command: GroupReload}} }
