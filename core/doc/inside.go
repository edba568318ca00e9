package doc

// Inside calls part for each value in the object or array that begins at text[i], and
// returns where that ends. part gets the name of a member as it is written, quotes
// included, and where the value begins; it returns where the value ends. A caller that
// looks into values reads each byte once, and makes no tree. The text is known to be
// valid; of other text it finds some values, but it never reads past the end.
func Inside(text []byte, i int, part func(name []byte, at int) (end int)) (end int) {
	named := byteAt(text, i) == '{'
	i = space(text, min(i+1, len(text)))
	for i < len(text) && text[i] != '}' && text[i] != ']' {
		var name []byte
		if named {
			from := i
			i = stringEnd(text, i)
			name = text[from:i:i]
			i = space(text, min(space(text, i)+1, len(text)))
		}
		i = behind(text, part(name, i))
	}
	return min(i+1, len(text))
}

// End returns where the value ends that begins at text[i], as Inside wants it.
func End(text []byte, i int) int {
	if i >= len(text) {
		return len(text)
	}
	return valueEnd(text, i)
}
