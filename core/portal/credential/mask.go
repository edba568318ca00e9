package credential

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
)

// How much of a secret a page shows, and how long one is of which something may be shown.
const (
	dots  = "••••••••"
	shown = 4
	least = 16
)

// Masked is what a page may show of a secret: four characters by which its owner tells it
// from others, and finds it where it is used. Most end differently. Keys that gateways make
// are an object of JSON in base64, and all of them end alike: of these it is the end of what
// stands for the identifier (docs/wire/portal-own-apps.md#operations).
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

// distinct returns where the identifier of a key ends in its text; 0: it has none that is
// long enough.
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
		return 0 // the text has it escaped
	}
	const bits, perCharacter = 8, 6
	return (at + len(said.ID)) * bits / perCharacter // the characters before stand for nothing else
}
