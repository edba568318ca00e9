package credential

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
)

// shown is how many characters of a secret a page shows, and least the minimum length of such
// a secret.
const (
	dots  = "••••••••"
	shown = 4
	least = 16
)

// Masked returns the form of a secret for pages: the last four characters, by which its owner
// can recognise it. Most secrets end differently. But keys of gateways are a base64 JSON
// object, and all of them end alike: for these it is the end of the encoded identifier
// (docs/wire/portal-own-apps.md#operations).
func Masked(secret string) string {
	switch at := distinct(secret); {
	case secret == "":
		return ""
	case len(secret) < least:
		return dots
	case at > 0:
		return dots + secret[at-shown:at] + "…"
	}
	return dots + secret[len(secret)-shown:]
}

// distinct returns the end of the encoded identifier in the text of a key; 0: there is no
// identifier, or it is too short.
func distinct(key string) int {
	raw, err := base64.StdEncoding.DecodeString(key)
	var said struct {
		ID string `json:"id"`
	}
	if err != nil || json.Unmarshal(raw, &said) != nil || len(said.ID) < least {
		return 0
	}
	at := bytes.LastIndex(raw, []byte(said.ID))
	if at < 0 {
		return 0 // the identifier is escaped in the JSON
	}
	const bits, perCharacter = 8, 6
	return (at + len(said.ID)) * bits / perCharacter // the characters before this encode only the identifier and earlier members
}
