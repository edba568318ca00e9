package key

import (
	"encoding/base64"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Token is what callers of APIs send (docs/wire/keys.md#names).
type Token struct {
	Org       tenant.ID `json:"org"`
	ID        string    `json:"id"`
	Algorithm string    `json:"h,omitempty"` // hash function of the gateways
}

// Text returns the token as callers send it.
func (t Token) Text() string {
	raw, err := json.Marshal(t)
	if err != nil { // strings always marshal
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// ParseToken reads a text that may be a token.
func ParseToken(text string) (t Token, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &t) != nil {
		return Token{}, false
	}
	return t, t.Org != "" && t.ID != ""
}
