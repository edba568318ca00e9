package operation

import (
	"fmt"
	"strings"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Keeps says of what kind the records are that a family of rows keeps. One row of
// the family is enough.
func Keeps(k store.AnyKind) Option { return func(s *Spec) { s.keeps = k } }

// CheckKinds reports kinds whose records would mix in the store: rows that keep a
// kind with the name of another one, be it of other rows or one of known, or with no
// name.
func CheckKinds(ops []Operation, known ...store.AnyKind) error {
	type keeper struct {
		kind store.AnyKind
		row  string
	}
	var problems []string
	seen := map[string]keeper{}
	claim := func(k store.AnyKind, row string) {
		name := k.KindName()
		other, taken := seen[name]
		switch {
		case name == "":
			problems = append(problems, row+" keeps a kind without a name; name it")
		case !taken:
			seen[name] = keeper{k, row}
		case other.kind == k:
		case other.row == "":
			problems = append(problems, fmt.Sprintf("%s keeps a kind named %q, which is reserved; give it another name", row, name))
		default:
			problems = append(problems, fmt.Sprintf("%s keeps a kind named %q, and so does %s; give one of them another name", row, name, other.row))
		}
	}
	for _, k := range known {
		claim(k, "")
	}
	for i := range ops {
		if k := ops[i].keeps; k != nil {
			claim(k, ops[i].ID)
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("operation: %s", strings.Join(problems, "; "))
	}
	return nil
}
