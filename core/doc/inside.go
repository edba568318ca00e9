package doc

// Inside calls part for each value in the object or array that begins at text[i], and returns
// its end. part gets the name of a member as written, with quotes, and the index of the value;
// it returns the end of the value. A caller that looks into values thus reads each byte once,
// and builds no tree. The text must be valid JSON; for other text Inside finds some values,
// but never reads past the end.
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

// End returns the end of the value that begins at text[i], for use in part of Inside.
func End(text []byte, i int) int {
	if i >= len(text) {
		return len(text)
	}
	return valueEnd(text, i)
}
