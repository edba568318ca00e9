package doc

import (
	"bytes"
	"encoding/json"
)

// Pair is a member of two objects, with its text in each.
type Pair struct {
	Name          string
	Before, After json.RawMessage
}

// InStep returns the members with different texts in two objects that have the same members in
// the same order; ok is false if they do not. Both texts must be valid, as for LoadObject. It
// scans common text only once, and does not scan the common text after the last difference.
func InStep(before, after []byte) (differ []Pair, ok bool) {
	i, j := space(before, 0), space(after, 0)
	if byteAt(before, i) != '{' || byteAt(after, j) != '{' {
		return nil, false
	}
	i, j = space(before, i+1), space(after, j+1)
	same := i + commonPrefix(before[i:], after[j:])
	for byteAt(before, i) != '}' {
		if same == len(before) && len(before)-i == len(after)-j {
			return differ, true
		}
		name, value, end, ok := memberAt(before, i)
		if !ok {
			return nil, false
		}
		if end < same { // the byte after the value is equal too: the value ends here in both texts
			next := behind(before, end)
			if same >= next {
				i, j = next, j+next-i
				continue
			}
		}
		named, valued, ended, ok := memberAt(after, j)
		if !ok || !bytes.Equal(before[i:name], after[j:named]) {
			return nil, false
		}
		if was, is := before[value:end:end], after[valued:ended:ended]; !bytes.Equal(was, is) {
			text, err := Unquote(before[i:name])
			if err != nil {
				return nil, false
			}
			differ = append(differ, Pair{text, was, is})
		}
		i, j = behind(before, end), behind(after, ended)
		same = i + commonPrefix(before[i:], after[j:])
	}
	return differ, byteAt(after, j) == '}'
}
