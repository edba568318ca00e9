package operation

import (
	"cmp"
	"slices"
	"strings"
)

// Reserved is a word that cannot be an identifier in a path, because the path of another row
// has the word in this place.
type Reserved struct {
	Word string
	Of   *Spec // the row that a request with this identifier would not reach
	By   *Spec // the row that it reaches instead
}

// ReservedWords returns the words that cannot be identifiers, for each row. A resource that
// has such an identifier anyway is reached by its database ID.
func ReservedWords(ops []Operation) (out []Reserved) {
	for i := range ops {
		for j := range ops {
			of, by := &ops[i].Spec, &ops[j].Spec
			if of.Method != by.Method {
				continue
			}
			if word, ok := shadows(strings.Split(by.Path, "/"), strings.Split(of.Path, "/")); ok {
				out = append(out, Reserved{word, of, by})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Reserved) int { return cmp.Compare(a.Of.Path, b.Of.Path) })
	return out
}

// shadows reports whether requests for the path of can go to the more literal path by, and
// returns the literal segment that causes it.
func shadows(by, of []string) (word string, ok bool) {
	if len(by) != len(of) {
		return "", false
	}
	for i := range of {
		_, open := Placeholder(of[i])
		_, free := Placeholder(by[i])
		switch {
		case open && !free && word == "":
			word = by[i]
		case !open && free && word == "": // of is the more literal path
			return "", false
		case !open && !free && of[i] != by[i]:
			return "", false
		}
	}
	return word, word != ""
}
