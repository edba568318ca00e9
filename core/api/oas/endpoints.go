package oas

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// methods are the operations of a path item, in the order in which they are read.
var methods = []string{"connect", "delete", "get", "head", "options", "patch", "post", "put", "trace"}

// extractEndpoints rebuilds the endpoint lists.
func extractEndpoints(document, ext, c *doc.Node) {
	version := mainVersion(c)
	assign(version, doc.NewBool(true), "use_extended_paths")
	lists := version.Get("extended_paths")
	for _, name := range knownLists {
		if zeroLists.Get(name) != nil {
			lists.Set(name, zeroLists.Get(name).Clone())
			continue
		}
		lists.Delete(name)
	}
	settings := ext.Get("middleware", "operations")
	if settings.Len() == 0 {
		return
	}
	for _, path := range sortedPaths(document.Get("paths")) {
		item := pathItem(document, path)
		for _, method := range methods {
			if id := item.Get(method, "operationId").Text(); id != "" {
				appendEntries(lists, settings.Get(id), path, strings.ToUpper(method))
			}
		}
	}
	if allowed := lists.Get("white_list"); allowed != nil {
		items := allowed.Items()
		slices.SortStableFunc(items, func(a, b *doc.Node) int {
			return cmp.Or(strings.Compare(a.Get("path").Text(), b.Get("path").Text()),
				strings.Compare(a.Get("method").Text(), b.Get("method").Text()))
		})
		allowed.SetItems(items)
	}
}

var (
	zeroLists  = mainVersion(zero).Get("extended_paths")
	knownLists = listNames()
)

// listNames returns the endpoint lists that a document determines. Transforms with jq and
// persisted queries have no counterpart in it and stay (docs/wire/conversion.md#endpoints).
func listNames() []string {
	names := []string{"cache"}
	for _, m := range endpoints {
		names = append(names, m.list)
	}
	return append(names, "validate_request")
}

// appendEntries appends the blocks of one operation to their lists, including disabled blocks.
func appendEntries(lists, op *doc.Node, path, method string) {
	for i := range endpoints {
		m := &endpoints[i]
		block := op.Get(m.block)
		if m.documentary || !block.Is(doc.TypeObject, doc.TypeArray) || block.Is(doc.TypeArray) != m.isList {
			continue
		}
		if m.isList {
			block = first(block)
		}
		entry := doc.NewObject()
		m.section.extract(block, entry)
		if block == nil {
			entry.Set("disabled", doc.NewBool(false)) // an empty list must not disable anything
		}
		entry.Set("path", doc.NewString(path))
		entry.Set("method", doc.NewString(method))
		if !lists.Get(m.list).Is(doc.TypeArray) {
			lists.Set(m.list, doc.NewArray())
		}
		lists.Get(m.list).Append(entry)
	}
}

// EndpointWeight returns the approximate size in bytes of the entries for an operation's
// settings, for each of its paths. It stops counting at most.
func EndpointWeight(settings *doc.Node, most int) (weight int) {
	lists := doc.NewObject()
	appendEntries(lists, settings, "", "")
	for _, list := range lists.Members() {
		weight += list.Weight(most - weight)
	}
	return weight
}

func first(n *doc.Node) *doc.Node {
	if items := n.Items(); len(items) > 0 {
		return items[0]
	}
	return nil
}

// sortedPaths returns the paths of a document, the more specific ones first
// (docs/wire/conversion.md#endpoints).
func sortedPaths(paths *doc.Node) []string {
	type entry struct{ path, reduced string }
	entries := make([]entry, 0, paths.Len())
	for path := range paths.Members() {
		entries = append(entries, entry{path, withoutParameters(path)})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(compareLength(a.reduced, b.reduced), compareLength(b.path, a.path))
	})
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.path
	}
	return out
}

// compareLength sorts by more slashes, then by longer texts, then alphabetically.
func compareLength(a, b string) int {
	return cmp.Or(cmp.Compare(strings.Count(b, "/"), strings.Count(a, "/")), cmp.Compare(len(b), len(a)), strings.Compare(a, b))
}

// withoutParameters removes every {…}.
func withoutParameters(path string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(path, "{")
		_, rest, closed := strings.Cut(after, "}")
		if !found || !closed {
			b.WriteString(path)
			return b.String()
		}
		b.WriteString(before)
		path = rest
	}
}
