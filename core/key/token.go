package key

import (
	"encoding/base64"
	"encoding/json"
)

// Whole reports whether a text is a complete key, as callers of APIs send it, and not only its
// identifier (docs/wire/keys.md#names).
func Whole(text string) bool { return Identifier(text) != text }

// Identifier returns the identifier from which gateways have made a key; a text that is not a
// complete key is returned unchanged.
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
