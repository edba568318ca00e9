package oas

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

func (l *sequence) extract(ext, classic *doc.Node) {
	v := ext.Get(l.ext...)
	switch {
	case l.item == nil:
		// A list of pairs becomes a map; of equal keys the last one counts.
		out := doc.NewObject()
		for _, item := range v.Items() {
			if !item.Is(doc.TypeObject) {
				continue
			}
			value := item.Get(l.value)
			if l.joined {
				value = doc.NewString(strings.Join(value.Texts(), ","))
			}
			out.Set(item.Get(l.key).Text(), read(value, text))
		}
		omitted := l.classic[len(l.classic)-1] == "scope_to_policy" // left out when it is empty
		switch {
		case out.Len() > 0 || l.emptyMap && !omitted:
			assign(classic, out, l.classic...)
		case omitted:
			classic.Delete(l.classic...)
		default:
			assign(classic, doc.NewNull(), l.classic...)
		}
	case l.keyed:
		out := doc.NewObject()
		for name, items := range v.Members() {
			out.Set(name, l.toClassic(items))
		}
		if out.Len() == 0 {
			out = doc.NewNull()
		}
		assign(classic, out, l.classic...)
	default:
		assign(classic, l.toClassic(v), l.classic...)
	}
}

// toClassic converts a list. A value that is not a list becomes null, an item that is not an
// object is left out.
func (l *sequence) toClassic(v *doc.Node) *doc.Node {
	if !v.Is(doc.TypeArray) {
		return doc.NewNull()
	}
	out := doc.NewArray()
	for _, item := range v.Items() {
		if item.Is(doc.TypeObject) {
			entry := doc.NewObject()
			l.item.extract(item, entry)
			out.Append(entry)
		}
	}
	return out
}

func (l *sequence) fill(ext, classic *doc.Node) {
	old, v := ext.Get(l.ext...), classic.Get(l.classic...)
	var out *doc.Node
	switch {
	case l.item == nil:
		out = l.toPairs(old, v)
	case l.keyed:
		out = doc.NewObject()
		for name, entries := range v.Members() {
			out.Set(name, l.toExtension(old.Get(name), entries))
		}
	default:
		out = l.toExtension(old, v)
	}
	switch {
	case out.Len() > 0 || l.empty == emptyList:
		assign(ext, out, l.ext...)
	case l.empty == null:
		assign(ext, doc.NewNull(), l.ext...)
	default:
		ext.Delete(l.ext...)
	}
}

// toExtension converts a list of classic entries. It reuses equal items of the document,
// because these may have members that only the document knows.
func (l *sequence) toExtension(old, v *doc.Node) *doc.Node {
	var entries []*doc.Node
	for _, entry := range v.Items() {
		if entry.Is(doc.TypeObject) && (l.item.hook.skip == nil || !l.item.hook.skip(entry)) {
			entries = append(entries, entry)
		}
	}
	items := l.item.pair(old, entries)
	for i, entry := range entries {
		if items[i] == nil {
			items[i] = doc.NewObject()
		}
		l.item.fill(items[i], entry)
		l.item.layout.compact(items[i])
		l.item.layout.complete(items[i])
	}
	return doc.NewArray(items...)
}

// pair returns a copy of the document's item for each entry with an equal one. In a list of
// the same length, a changed entry gets a copy of the item at its position. The others are
// nil. Equal items are found in a map, because lists may be long.
func (s *section) pair(old *doc.Node, entries []*doc.Node) []*doc.Node {
	items := make([]*doc.Node, len(entries))
	olds := old.Items()
	free := make([]bool, len(olds)) // items that are not paired yet
	says := map[string][]int{}      // indexes of items by their classic form, in order
	for i, item := range olds {
		if free[i] = item.Is(doc.TypeObject); free[i] {
			entry := doc.NewObject()
			s.extract(item, entry)
			what := s.fresh(entry).Canonical()
			says[what] = append(says[what], i)
		}
	}
	for i, entry := range entries {
		want := s.fresh(entry).Canonical()
		if same := says[want]; len(same) > 0 {
			items[i], free[same[0]], says[want] = olds[same[0]].Clone(), false, same[1:]
		}
	}
	for i := range items {
		if items[i] == nil && len(olds) == len(entries) && free[i] {
			items[i] = olds[i].Clone()
		}
	}
	return items
}

func (s *section) fresh(entry *doc.Node) *doc.Node {
	item := doc.NewObject()
	s.fill(item, entry)
	return item
}

// toPairs converts a map to a list, sorted by key. Pairs of the document with the same key
// keep their other members.
func (l *sequence) toPairs(old, v *doc.Node) *doc.Node {
	known := map[string]*doc.Node{}
	for _, item := range old.Items() {
		if item.Is(doc.TypeObject) {
			known[item.Get(l.key).Text()] = item
		}
	}
	out := doc.NewArray()
	keys := v.Names()
	slices.Sort(keys)
	for _, key := range keys {
		item := known[key].Clone()
		if item == nil {
			item = doc.NewObject()
		}
		assign(item, doc.NewString(key), l.key)
		value := read(v.Get(key), text)
		if l.joined {
			list := doc.NewArray() // rule comma: it was joined to one text
			for part := range strings.SplitSeq(value.Text(), ",") {
				if part = strings.TrimSpace(part); part != "" {
					list.Append(doc.NewString(part))
				}
			}
			value = list
		}
		assign(item, value, l.value)
		out.Append(item)
	}
	return out
}
