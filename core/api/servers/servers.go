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
	// Others are further bases of a child version, which the change leaves as they are.
	Others []*doc.Node
	Config Config
}

// after returns the addresses after the change, before those before it.
func (in Input) after() []address {
	return addresses(in.New, in.routes(in.Base, in.VersionName), in.Config)
}

func (in Input) before() []address {
	// A version may have been renamed, so both its given and its listed name count.
	return slices.Concat(addresses(in.Old, in.routes(in.OldBase, ""), in.Config), addresses(in.Old, in.routes(in.OldBase, in.VersionName), in.Config))
}

// route leads from a base to a version.
type route struct {
	base *doc.Node
	name string // "": look it up in the base
}

// routes returns the routes to a child version in order of the API IDs of its bases, so that
// the order of addresses does not depend on the last write.
func (in Input) routes(base *doc.Node, name string) (out []route) {
	if base != nil {
		out = append(out, route{base, name})
	}
	for _, b := range in.Others {
		out = append(out, route{base: b})
	}
	slices.SortStableFunc(out, func(a, b route) int {
		return strings.Compare(a.base.Get("api_id").Text(), b.base.Get("api_id").Text())
	})
	return out
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
	for _, a := range in.after() {
		entry, err := server(a.String())
		if err != nil {
			return err
		}
		if key := normal(entry.Get("url").Text()); !seen[key] {
			seen[key] = true
			items = append(items, entry)
		}
	}
	for _, a := range in.before() {
		if entry, err := server(a.String()); err == nil {
			seen[normal(entry.Get("url").Text())] = true
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
		{"domain"}, {"domain_disabled"}, {"tags_disabled"}, {"api_id"}, // of several bases, the ID says whose addresses come first
	} {
		if a, b := old.Get(member...), now.Get(member...); a.Text() != b.Text() || a.True() != b.True() {
			return true
		}
	}
	return false
}
