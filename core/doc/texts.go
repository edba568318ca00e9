package doc

import (
	"encoding/binary"
	"iter"
	"slices"
	"unique"
)

// Texts is an interned list of texts: equal lists compare equal and are in memory once. The
// zero Texts is empty.
type Texts struct{ joined unique.Handle[string] } // each text after its length

// Intern returns the Texts of a list that many documents share.
func Intern(list []string) Texts {
	if len(list) == 0 {
		return Texts{}
	}
	var b []byte
	for _, v := range list {
		b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
	}
	return Texts{unique.Make(string(b))}
}

// All yields the texts in their order.
func (t Texts) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		if t == (Texts{}) {
			return
		}
		for rest := t.joined.Value(); rest != ""; {
			size, n := binary.Uvarint([]byte(rest[:min(len(rest), binary.MaxVarintLen64)]))
			text := rest[n : n+int(size)]
			if rest = rest[n+len(text):]; !yield(text) {
				return
			}
		}
	}
}

// Overlap returns a function that reports whether a list has one of the wanted texts; with no
// wanted texts it always returns true. The function caches its results, because many documents
// have the same list. It is not safe for concurrent use.
func Overlap(wanted []string) func(Texts) bool {
	if len(wanted) == 0 {
		return func(Texts) bool { return true }
	}
	said := map[Texts]bool{}
	return func(t Texts) bool {
		if has, ok := said[t]; ok {
			return has
		}
		overlaps := false // the loop moves it to the heap, which a known list does not pay for
		for v := range t.All() {
			if overlaps = slices.Contains(wanted, v); overlaps {
				break
			}
		}
		if len(said) < remembered {
			said[t] = overlaps
		}
		return overlaps
	}
}

// remembered is the maximum number of lists that Overlap caches: with more, a cache lookup
// would take longer than the comparison.
const remembered = 1 << 10
