package shape

// IsObjectID reports whether a text is a database ID as it is stored: 24
// lower-case hexadecimal digits (docs/wire/requests.md#identifiers).
func IsObjectID(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 24
}
