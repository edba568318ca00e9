package datagraph

import (
	"strconv"
	"strings"
)

// maxName is how long a name becomes that is put together, in bytes.
const maxName = 120

// maxPlace is from which length on a place is not told more exactly, in bytes.
const maxPlace = 500

// below returns a place within a place.
func below(place string, parts ...string) string {
	for _, part := range parts {
		if len(place)+len(part) > maxPlace {
			return place
		}
		place += "." + part
	}
	return place
}

// names gives out names, each of them once.
type names struct {
	fold  bool           // names differ by more than case
	taken map[string]int // and the number to try next
}

func newNames(fold bool) *names { return &names{fold: fold, taken: map[string]int{}} }

func (n *names) key(name string) string {
	if n.fold {
		return strings.ToLower(name)
	}
	return name
}

// take returns a free name: the one given, or else with a number.
func (n *names) take(name string) string {
	next, taken := n.taken[n.key(name)]
	out := name
	for taken {
		next++
		out = name + strconv.Itoa(next)
		_, taken = n.taken[n.key(out)]
	}
	n.taken[n.key(out)] = 1
	if out != name {
		n.taken[n.key(name)] = next
	}
	return out
}

// isName reports whether GraphQL knows a text as the name of something that is
// not its own (GraphQL 2.1.9, 4).
func isName(s string) bool {
	if s == "" || strings.HasPrefix(s, "__") || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(s, foreign)
}

// foreign reports whether a character cannot be part of a name.
func foreign(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_')
}

// valid returns the name closest to a text: one underscore for what names cannot
// contain.
func valid(s string) string {
	if isName(s) && len(s) <= maxName {
		return s
	}
	s = strings.Join(strings.FieldsFunc(s, foreign), "_")
	if len(s) > maxName {
		s = s[:maxName]
	}
	if s = strings.TrimLeft(s, "_"); s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "_" + s
	}
	return s
}

// camel joins the words of texts: get and /pets/{petId} are getPetsPetId.
func camel(first string, texts ...string) string {
	var b strings.Builder
	b.WriteString(first)
	for _, text := range texts {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return foreign(r) || r == '_' }) {
			if b.Len()+len(word) > maxName {
				break
			}
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// slug returns a title as part of a path.
func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return foreign(r) || r == '_' })
	s := strings.Join(words, "-")
	if len(s) > maxName {
		s = strings.Trim(s[:maxName], "-")
	}
	if s == "" {
		return "data-graph"
	}
	return s
}
