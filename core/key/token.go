package key

import (
	"encoding/base64"
	"encoding/json"
)

// Whole reports whether a text is what callers of APIs send, and not an identifier that
// gateways make that of (docs/wire/keys.md#names).
func Whole(text string) bool { return Identifier(text) != text }

// Identifier returns the identifier that gateways have made a key of; of what is no whole
// key the text itself.
func Identifier(text string) string {
	var token struct {
		Org string `json:"org"`
		ID  string `json:"id"`
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &token) != nil || token.Org == "" || token.ID == "" {
		return text
	}
	return token.ID
}
