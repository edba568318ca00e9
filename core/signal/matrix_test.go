package signal_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/signal"
)

// changed makes a change; keys are alternately names and values of indexes.
func changed(op signal.Op, kind, id string, keys ...string) signal.Change {
	return signal.Change{Op: op, Kind: kind, ID: id, Key: func(index string) string {
		for i := 0; i < len(keys); i += 2 {
			if keys[i] == index {
				return keys[i+1]
			}
		}
		return ""
	}}
}

func noticed(op signal.Op, command signal.Command, payload string) signal.Change {
	n := signal.Notice{Command: command, Payload: payload}
	if command.Sealed() {
		n = signal.Notice{Command: command, Subject: "somebody", Secret: payload}
	}
	keys := n.Keys()
	return signal.Change{Op: op, Kind: signal.NoticeKind, ID: n.ID(), Key: func(index string) string { return keys[index] }}
}

// TestMatrix has a case for each command and its cause.
func TestMatrix(t *testing.T) {
	const c, u, d = signal.Created, signal.Updated, signal.Deleted
	list := func(signals ...signal.Signal) []signal.Signal { return signals }
	for _, row := range []struct {
		name    string
		changes []signal.Change
		want    []signal.Signal
	}{
		{"ApiAdded: created or imported", of(changed(c, "api", "1", "api_id", "orders")), list(signal.Signal{Command: "ApiAdded", Payload: "orders"})},
		{"ApiAdded: created by those who also say who owns it", of(changed(c, "api", "1", "api_id", "orders", signal.Quiet, "owners")), list(signal.Signal{Command: "ApiAdded", Payload: "orders"})},
		{"ApiUpdated: replaced or patched", of(changed(u, "api", "1", "api_id", "orders")), list(signal.Signal{Command: "ApiUpdated", Payload: "orders"})},
		{"none: owners or categories only", of(changed(u, "api", "1", "api_id", "orders", signal.Quiet, "owners")), nil},
		{"ApiUpdated: webhook changed, one per affected API", of(changed(u, "webhook", "9"), noticed(c, "ApiUpdated", "a"), noticed(u, "ApiUpdated", "b")),
			list(signal.Signal{Command: "ApiUpdated", Payload: "a"}, signal.Signal{Command: "ApiUpdated", Payload: "b"})},
		{"ApiUpdated once: replaced and affected", of(changed(u, "api", "1", "api_id", "a"), noticed(u, "ApiUpdated", "a")), list(signal.Signal{Command: "ApiUpdated", Payload: "a"})},
		{"none: unused webhook", of(changed(d, "webhook", "9")), nil},
		{"ApiRemoved: deleted", of(changed(d, "api", "1", "api_id", "orders", signal.Quiet, "owners")), list(signal.Signal{Command: "ApiRemoved", Payload: "orders"})},
		{"ApiRemoved and what else it changes", of(changed(u, "policy", "7", "id", "gold"), changed(d, "api", "1", "api_id", "orders")),
			list(signal.Signal{Command: "PolicyChanged", Payload: "gold"}, signal.Signal{Command: "ApiRemoved", Payload: "orders"})},
		{"GroupReload: rebase", of(changed(u, "api", "1", "api_id", "a"), changed(u, "api", "2", "api_id", "b"), noticed(u, "GroupReload", "")), list(signal.Signal{Command: "GroupReload"})},
		{"GroupReload: nothing but that", of(noticed(c, "GroupReload", "")), list(signal.Signal{Command: "GroupReload"})},
		{"GroupReload stands for reloads only", of(noticed(u, "GroupReload", ""), changed(u, "clientidp", "1"), changed(c, "policy", "7"), noticed(u, "DeleteAPICache", "a")),
			list(signal.Signal{Command: "ClientIdPChanged", Payload: "1"}, signal.Signal{Command: "GroupReload"}, signal.Signal{Command: "DeleteAPICache", Payload: "a"})},
		{"PolicyChanged: created or imported", of(changed(c, "policy", "7", "id", "gold")), list(signal.Signal{Command: "PolicyChanged", Payload: "gold"})},
		{"PolicyChanged: changed", of(changed(u, "policy", "7", "id", "gold")), list(signal.Signal{Command: "PolicyChanged", Payload: "gold"})},
		{"PolicyChanged: deleted", of(changed(d, "policy", "7")), list(signal.Signal{Command: "PolicyChanged", Payload: "7"})},
		{"ClientIdPChanged: created", of(changed(c, "clientidp", "3", "client_idp_id", "corp")), list(signal.Signal{Command: "ClientIdPChanged", Payload: "corp"})},
		{"ClientIdPChanged: changed", of(changed(u, "clientidp", "3", "client_idp_id", "corp")), list(signal.Signal{Command: "ClientIdPChanged", Payload: "corp"})},
		{"ClientIdPChanged: deleted", of(changed(d, "clientidp", "3", "client_idp_id", "corp")), list(signal.Signal{Command: "ClientIdPChanged", Payload: "corp"})},
		{"DeleteAPICache", of(noticed(u, "DeleteAPICache", "orders")), list(signal.Signal{Command: "DeleteAPICache", Payload: "orders"})},
		{"InvalidateJWKSCacheForAPI", of(noticed(u, "InvalidateJWKSCacheForAPI", "orders")), list(signal.Signal{Command: "InvalidateJWKSCacheForAPI", Payload: "orders"})},
		{"KeySpaceUpdateNotification", of(noticed(c, "KeySpaceUpdateNotification", "1de461e9ee0777bf")), list(signal.Signal{Command: "KeySpaceUpdateNotification", Payload: "1de461e9ee0777bf"})},
		{"OAuthPurgeLapsedTokens", of(noticed(c, "OAuthPurgeLapsedTokens", "")), list(signal.Signal{Command: "OAuthPurgeLapsedTokens"})},
		{"UserKeyReset: with what the notice keeps encrypted", of(noticed(c, "UserKeyReset", "sealed"), changed(u, "user", "5")), list(signal.Signal{Command: "UserKeyReset", Payload: "sealed"})},
		{"none: a notice is removed", of(noticed(d, "GroupReload", "")), nil},
		{"none: nothing is known of the change", of(signal.Change{Kind: "api", ID: "1"}, signal.Change{Op: "renamed", Kind: "policy"}), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			if have := table.Of(row.changes); !slices.Equal(have, row.want) {
				t.Errorf("have %v, want %v", have, row.want)
			}
		})
	}
}

func of(changes ...signal.Change) []signal.Change { return changes }

// TestFlood: too many reloads in one commit become one.
func TestFlood(t *testing.T) {
	var changes []signal.Change
	for i := range signal.Many {
		changes = append(changes, changed(signal.Created, "api", fmt.Sprint(i)))
	}
	if have := table.Of(changes); len(have) != signal.Many {
		t.Errorf("%d announcements", len(have))
	}
	changes = append(changes, changed(signal.Updated, "clientidp", "x"), changed(signal.Updated, "policy", "p"), noticed(signal.Created, "DeleteAPICache", "a"))
	want := []signal.Signal{{Command: "ClientIdPChanged", Payload: "x"}, {Command: "GroupReload"}, {Command: "DeleteAPICache", Payload: "a"}}
	if have := table.Of(changes); !slices.Equal(have, want) {
		t.Errorf("have %v", have)
	}
}
