// Package signal decides which announcements to gateways a commit causes, and has their wire
// format (docs/wire/announcements.md).
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

	DeleteAPICache             Command = "DeleteAPICache"             // remove the cached responses of an API
	InvalidateJWKSCacheForAPI  Command = "InvalidateJWKSCacheForAPI"  // remove the cached keys of an API
	KeySpaceUpdateNotification Command = "KeySpaceUpdateNotification" // remove the cached sessions of key hashes
	OAuthPurgeLapsedTokens     Command = "OAuthPurgeLapsedTokens"     // remove expired tokens
	UserKeyReset               Command = "UserKeyReset"               // replace an access key that is no longer valid
)

// Sealed reports whether the payload of a command is secret: it is stored encrypted until it
// is announced.
func (c Command) Sealed() bool { return c == UserKeyReset }

// KeyReset returns the announcement that an access key has replaced another one.
func KeyReset(old, key string) Signal {
	return Signal{UserKeyReset, old + "." + key + ":" + string(UserKeyReset)}
}

// Signal is one announcement.
type Signal struct {
	Command Command
	Payload string // the subject; for commands that reload only people read it, not gateways
}

// Reloads reports whether gateways load policies, APIs and identity providers again when they
// receive s, with any payload (docs/wire/announcements.md#commands).
func (s Signal) Reloads() bool {
	switch s.Command {
	case ApiAdded, ApiUpdated, ApiRemoved, PolicyChanged, GroupReload:
		return true
	}
	return false
}

// Subject returns the identifier of the API, policy or provider in the payload. It is empty
// for commands with another payload, which names keys.
func (s Signal) Subject() string {
	switch s.Command {
	case KeySpaceUpdateNotification, OAuthPurgeLapsedTokens, UserKeyReset:
		return ""
	}
	return s.Payload
}

// Op is the kind of a change of a record.
type Op string

// Kinds of changes of a record.
const (
	Created Op = "created"
	Updated Op = "updated"
	Deleted Op = "deleted"
)

// Change is what Table needs to know about a changed record.
type Change struct {
	Op   Op
	Kind string
	ID   string
	Key  func(index string) string // value of an index of the record, or ""; a nil func: no indexes
}

// Quiet is an index of records. If a record has a value in it, then the last change of the
// record concerns only clients of this service, and gateways are not told of it.
const Quiet = "quiet"

// Row has the commands that announce changes of one kind of records.
type Row struct {
	Created, Updated, Deleted Command
	Alias                     string // index with the identifier that users know; "": users know the ID
}

// Always returns a row that announces all changes by the same command.
func Always(c Command, alias string) Row { return Row{c, c, c, alias} }

// Table has a row for each kind of records that concerns gateways, by the name of the kind.
type Table map[string]Row

// About returns the kind of records that a command announces changes of, "" if there is none.
func (t Table) About(c Command) string {
	for kind, r := range t {
		if c == r.Created || c == r.Updated || c == r.Deleted {
			return kind
		}
	}
	return ""
}

// Many is the maximum number of reloads in one commit that are announced one by one: more of
// them tell gateways nothing that one GroupReload does not.
const Many = 100

// Of returns the announcements of one commit: one per command and subject, also when the
// commit changed several records of the same subject. A GroupReload replaces all other reloads
// of its commit.
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

// signal returns the announcement of one change. It returns false if there is none.
func (t Table) signal(c Change) (Signal, bool) {
	if c.Kind == NoticeKind {
		s := Signal{Command(c.key(noticeCommand)), c.key(noticePayload)}
		return s, c.Op != Deleted && slices.Contains(commands, s.Command) // deleting a notice announces nothing
	}
	r, ok := t[c.Kind]
	if !ok {
		return Signal{}, false
	}
	command := map[Op]Command{Created: r.Created, Updated: r.Updated, Deleted: r.Deleted}[c.Op]
	if command == "" || c.Op == Updated && c.key(Quiet) != "" {
		return Signal{}, false
	}
	return Signal{command, cmp.Or(c.key(r.Alias), c.ID)}, true // by the identifier that users know
}

func (c Change) key(index string) string {
	if index == "" || c.Key == nil {
		return ""
	}
	return c.Key(index)
}

// CatchUp returns the announcements for a time in which changes, or the arrival of
// announcements, are unknown: gateways then load everything again. The registry comes first,
// which they load at once and not at their next tick.
func CatchUp() []Signal { return []Signal{{Command: ClientIdPChanged}, {Command: GroupReload}} }
