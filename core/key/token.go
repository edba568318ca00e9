package key

import (
	"encoding/base64"
	"encoding/json"
)

// Whole reports whether a text is what callers of APIs send, and not an identifier that
// gateways make that of (docs/wire/keys.md#names).
func Whole(text string) bool {
	var token struct {
		Org string `json:"org"`
		ID  string `json:"id"`
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(raw, &token) == nil && token.Org != "" && token.ID != ""
}
