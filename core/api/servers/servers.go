// Package servers maintains the addresses of an API at gateways in the servers list of its
// OpenAPI document (docs/wire/versions.md#servers).
package servers

import (
	"path"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Input is the classic definitions that determine addresses; nil is none.
type Input struct {
	New, Old      *doc.Node // the API after and before the change
	Base, OldBase *doc.Node // of a child version: its base, after and before the change
	VersionName   string    // of a child; "": look it up in the base
	Config        Config
}

// Config says where gateways are.
type Config struct {
	Protocol    string // for hosts without one: "https" or "https://"
	DefaultHost string // of gateways without tags, with port
	Hybrid      bool   // gateways run elsewhere: only relative addresses are known
	Edges       []Edge // gateways that load APIs by tag
}

// Edge is the address of gateways that load the APIs with one of their tags.
type Edge struct {
	Endpoint string
	Tags     []string
}

// Merge regenerates the servers list of a document in place. Addresses of the old definition
// are removed, those of the new one come first, and those of users stay in their order. An
// address that cannot be an OpenAPI server is a fault of kind Invalid, and the document is
// unchanged.
func Merge(document *doc.Node, in Input) error {
	if !document.Is(doc.TypeObject) {
		return fault.New(fault.Invalid, "oas.document", "an OpenAPI document must be an object")
	}
	var items []*doc.Node
	seen := map[string]bool{}
	for _, a := range addresses(in.New, in.Base, in.VersionName, in.Config) {
		entry, err := server(a.String())
		if err != nil {
			return err
		}
		if key := normal(entry.Get("url").Text()); !seen[key] {
			seen[key] = true
			items = append(items, entry)
		}
	}
	// A version may have been renamed, so both its given and its listed name count.
	for _, name := range []string{"", in.VersionName} {
		for _, a := range addresses(in.Old, in.OldBase, name, in.Config) {
			if entry, err := server(a.String()); err == nil {
				seen[normal(entry.Get("url").Text())] = true
			}
		}
	}
	for _, entry := range document.Get("servers").Items() {
		key := normal(entry.Get("url").Text())
		if !entry.Get("url").Is(doc.TypeString) || !seen[key] {
			items = append(items, entry)
		}
		seen[key] = true
	}
	if list := doc.NewArray(items...); !list.Equal(document.Get("servers")) {
		document.Set("servers", list)
	}
	return nil
}

// normal returns a form of an address for comparisons, without trailing slashes and with a
// clean path.
func normal(address string) string {
	address, query, _ := strings.Cut(address, "?")
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		scheme, rest = "", address
	}
	host, tail, _ := strings.Cut(rest, "/")
	return scheme + "://" + host + path.Clean("/"+tail) + "?" + query
}

// ChildrenAffected reports whether a change of a base changes the addresses of its versions
// (docs/wire/versions.md#when-children-change), which are on the hosts of the base.
func ChildrenAffected(old, now *doc.Node) bool {
	if listenPath(old) != listenPath(now) || !slices.Equal(old.Get("tags").Texts(), now.Get("tags").Texts()) {
		return true
	}
	for _, member := range [][]string{
		{"definition", "location"}, {"definition", "key"}, {"definition", "fallback_to_default"}, {"definition", "default"},
		{"domain"}, {"domain_disabled"}, {"tags_disabled"},
	} {
		if a, b := old.Get(member...), now.Get(member...); a.Text() != b.Text() || a.True() != b.True() {
			return true
		}
	}
	return false
}
