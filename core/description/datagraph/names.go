package datagraph

import (
	"strconv"
	"strings"
)

// maxName is the maximum length of a generated name in bytes.
const maxName = 120

// maxPlace is the length in bytes from which a place gets no more detail.
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

// names assigns unique names.
type names struct {
	fold  bool           // names must differ by more than case
	taken map[string]int // with the number to try next
}

func newNames(fold bool) *names { return &names{fold: fold, taken: map[string]int{}} }

func (n *names) key(name string) string {
	if n.fold {
		return strings.ToLower(name)
	}
	return name
}

// take returns a free name: name, or otherwise name with a number.
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

// isName reports whether a text is a valid GraphQL name that is not reserved (GraphQL 2.1.9,
// 4).
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

// valid returns the name closest to a text: invalid characters become one underscore.
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

// camel joins the words of texts in camel case: get and /pets/{petId} become getPetsPetId.
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

// slug returns a title in a form for paths.
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
