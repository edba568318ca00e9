package oas

import (
	"slices"
	"strings"
)

// compile turns the rows of the object at a path into a section.
func compile(path string, parts ...[]row) *section {
	s := &section{shape: newBlock(path, parts...)}
	inner := map[string][]row{}
	var order []string
	for _, r := range slices.Concat(parts...) {
		if head, _, ok := cutList(r.ext); ok {
			if !slices.Contains(order, head) {
				order = append(order, head)
			}
			inner[head] = append(inner[head], r)
		} else if slices.Contains(plain, r.rule) {
			s.leaves = append(s.leaves, r.leaf())
		}
	}
	for _, head := range order {
		if l := compileList(within(path, head), head, inner[head]); l != nil {
			s.lists = append(s.lists, l)
		}
	}
	return s
}

func (r row) leaf() leaf {
	classic, omitted := strings.CutSuffix(r.classic, "?")
	return leaf{split(r.ext), split(classic), r.rule, r.kind, r.written, omitted}
}

// split turns a path of the table into member names.
func split(path string) []string {
	names := strings.Split(path, ".")
	if names[0] == "V" {
		names = append([]string{"version_data", "versions", ""}, names[1:]...)
	}
	return names
}

// cutList divides a path at its first list.
func cutList(path string) (head, rest string, ok bool) {
	head, rest, ok = strings.Cut(path, "[]")
	return head, strings.TrimPrefix(rest, "."), ok
}

func compileList(path, head string, rows []row) *sequence {
	classic, _, found := cutList(rows[0].classic)
	_, keyed := strings.CutSuffix(head, ".*")
	switch first := rows[0]; {
	case first.rule == pairs:
		return compilePairs(path, head, rows)
	case !found || first.rule == event:
		return nil
	}
	var relative []row
	for _, r := range rows {
		_, r.ext, _ = cutList(r.ext)
		_, r.classic, _ = cutList(r.classic)
		relative = append(relative, r)
	}
	return &sequence{
		ext: split(strings.TrimSuffix(head, ".*")), classic: split(strings.TrimSuffix(classic, ".*")),
		keyed: keyed, item: compile(items(path), relative).with(itemHooks[head]), whenEmpty: empties[path],
	}
}

func (s *section) with(h hook) *section {
	s.hook = h
	return s
}

func compilePairs(path, head string, rows []row) *sequence {
	classic, _ := strings.CutSuffix(rows[0].classic, " (key)")
	_, key, _ := cutList(rows[0].ext)
	_, value, _ := cutList(rows[1].ext)
	return &sequence{
		ext: split(head), classic: split(classic), key: key, value: value,
		joined: rows[1].rule == comma, emptyMap: slices.Contains(emptyMaps, last(split(classic))),
		whenEmpty: empties[path],
	}
}

// emptyMaps are the maps that the classic form shows as {}, all others as null
// (contract oas-extension.md 3, rule pairs).
var emptyMaps = []string{"global_headers", "global_response_headers", "add_headers", "header_map", "scope_to_policy"}

func last(names []string) string { return names[len(names)-1] }
