package doc

// Restore returns the stored form of an edited document: shown is the form of stored for
// readers, and now is shown with changes. Unchanged parts are taken from stored. No argument
// is changed; the result shares parts with stored and now.
func Restore(stored, shown, now *Node) *Node {
	switch {
	case now.Equal(shown):
		return stored
	case stored.Is(TypeObject) && shown.Is(TypeObject) && now.Is(TypeObject):
		out := NewObject()
		for name, v := range now.Members() {
			was, of := shown.Get(name), stored.Get(name)
			switch {
			case was == nil:
			case of != nil:
				v = Restore(of, was, v)
			case v.Equal(was):
				continue
			}
			out.Set(name, v)
		}
		return out
	case stored.Is(TypeArray) && shown.Is(TypeArray) && now.Is(TypeArray) && stored.Len() == shown.Len():
		return NewArray(restoreItems(stored.Items(), shown.Items(), now.Items())...)
	}
	return now
}

// restoreItems compares items from the beginning and, after a change of length, also from the
// end.
func restoreItems(stored, shown, now []*Node) []*Node {
	out := make([]*Node, len(now))
	moved := len(shown) - len(now)
	for i, v := range now {
		out[i] = v
		for _, j := range []int{i, i + moved} {
			if j < 0 || j >= len(shown) {
				continue
			}
			if moved == 0 {
				out[i] = Restore(stored[j], shown[j], v)
				break
			}
			if v.Equal(shown[j]) {
				out[i] = stored[j]
				break
			}
		}
	}
	return out
}
