package oas

import (
	"slices"
	"strings"
)

// compile turns the rows of an object into a section.
func compile(parts ...[]row) *section {
	s := &section{layout: new(layout).addAll(parts...)}
	inner, shown := map[string][]row{}, map[string]empty{}
	var order []string
	for _, r := range slices.Concat(parts...) {
		if head, _, ok := cutList(r.ext); ok {
			if !slices.Contains(order, head) {
				order = append(order, head)
			}
			inner[head] = append(inner[head], r)
		} else if r.rule == block {
			shown[r.ext] = r.empty
		} else if slices.Contains(plain, r.rule) {
			classic, omitted := strings.CutSuffix(r.classic, "?")
			s.leaves = append(s.leaves, leaf{split(r.ext), split(classic), r.rule, r.typ.kind(), r.empty, omitted})
		}
	}
	for _, head := range order {
		if l := compileList(head, inner[head]); l != nil {
			l.empty = shown[head]
			s.lists = append(s.lists, l)
		}
	}
	return s
}

// split turns a path of the table into member names.
func split(path string) []string {
	names := strings.Split(path, ".")
	if names[0] == "V" {
		names = append([]string{"version_data", "versions", ""}, names[1:]...)
	}
	return names
}

// cutList splits a path at its first list.
func cutList(path string) (head, rest string, ok bool) {
	head, rest, ok = strings.Cut(path, "[]")
	return head, strings.TrimPrefix(rest, "."), ok
}

func compileList(head string, rows []row) *sequence {
	first := rows[slices.IndexFunc(rows, func(r row) bool { return r.rule != block })]
	classic, _, found := cutList(first.classic)
	_, keyed := strings.CutSuffix(head, ".*")
	switch {
	case first.rule == pairs:
		classic, _ = strings.CutSuffix(rows[0].classic, " (key)")
		_, key, _ := cutList(rows[0].ext)
		_, value, _ := cutList(rows[1].ext)
		names := split(classic)
		return &sequence{
			ext: split(head), classic: names, key: key, value: value,
			joined: rows[1].rule == comma, emptyMap: slices.Contains(emptyMaps, names[len(names)-1]),
		}
	case !found || first.rule == event:
		return nil
	}
	var relative []row
	for _, r := range rows {
		_, r.ext, _ = cutList(r.ext)
		_, r.classic, _ = cutList(r.classic)
		relative = append(relative, r)
	}
	item := compile(relative)
	item.hook = itemHooks[head]
	return &sequence{
		ext: split(strings.TrimSuffix(head, ".*")), classic: split(strings.TrimSuffix(classic, ".*")),
		keyed: keyed, item: item,
	}
}

// emptyMaps are the maps that are {} in the classic form when empty; all others are null
// (docs/wire/conversion.md#rules).
var emptyMaps = []string{"global_headers", "global_response_headers", "add_headers", "header_map", "scope_to_policy"}
