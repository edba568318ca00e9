package doc

import (
	"encoding/binary"
	"iter"
	"slices"
	"unique"
)

// Texts is a list of texts. Equal lists are equal and in memory once, however many
// documents have them. The zero Texts is empty.
type Texts struct{ joined unique.Handle[string] } // each behind its length

// Intern returns a list of texts of which many documents have the same.
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

// Overlap returns a test of whether a list has one of the texts that are wanted, or
// nothing is wanted. It remembers what it said of a list: many documents have the same.
// It is for one goroutine.
func Overlap(wanted []string) func(Texts) bool {
	if len(wanted) == 0 {
		return func(Texts) bool { return true }
	}
	said := map[Texts]bool{}
	return func(t Texts) bool {
		has, ok := said[t]
		if ok {
			return has
		}
		for v := range t.All() {
			if has = slices.Contains(wanted, v); has {
				break
			}
		}
		if len(said) < remembered {
			said[t] = has
		}
		return has
	}
}

// remembered is how many lists Overlap remembers at most: more than that would take longer
// to find than to look at.
const remembered = 1 << 10
