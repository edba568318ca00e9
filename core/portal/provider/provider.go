// Package provider models the dashboards to which a portal is connected
// (docs/wire/portal-providers.md).
package provider

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kind is the name of the resource in storage.
const Kind = "portal-provider"

// TykPro is the only type of providers.
const TykPro = "tyk-pro"

// Provider is one dashboard, with the rights of one of its users.
type Provider struct {
	table.Base
	Name     string
	Type     string
	Settings Settings
	// Sent is the configuration from a client, until Configured has applied it.
	Sent Sent `json:"-"`
}

// Table implements table.Row.
func (Provider) Table() *table.Table[Provider] { return rows }

var rows = &table.Table[Provider]{
	Kind: Kind, Noun: "provider",
	Base: func(p *Provider) *table.Base { return &p.Base },
	Fields: []table.Field[Provider]{
		{Name: "Name", At: func(p *Provider) any { return &p.Name }, Required: true, Max: 255},
		{Name: "Type", At: func(p *Provider) any { return &p.Type }, Enum: []string{TykPro}, Doc: "Type of the provider. There is only one type, the default."},
		{Name: "Configuration", At: func(p *Provider) any { return &p.Sent }},
	},
	Check: func(p Provider, wrong *table.Problems) {
		_, _, problems := p.Configured()
		*wrong = append(*wrong, problems...)
	},
}

// Sent is the text of a configuration. Clients send an object, or the object as text.
type Sent string

// Take implements table.Taker. It accepts everything: Configured reports the problems.
func (s *Sent) Take(sent any) (done, ok bool) {
	text, isText := sent.(string)
	if !isText {
		encoded, err := json.Marshal(sent)
		if err != nil {
			return true, false
		}
		text = string(encoded)
	}
	*s = Sent(text)
	return true, true
}

// Schema implements table.Taker.
func (*Sent) Schema() map[string]any {
	return map[string]any{
		"type": "object",
		"properties": map[string]any{
			"ID": map[string]any{"type": "integer", "description": "Number of the configuration. Ignored in requests."},
			"MetaData": map[string]any{"type": "string",
				"description": "JSON text of an object with URL (of the dashboard, required), Secret (access key of one of its users), OrgID, Gateway (base address shown to developers), PoliciesTags and InsecureSkipVerify. Requests may send the object itself instead."},
		},
	}
}

// MarshalJSON implements json.Marshaler: examples show the plain form.
func (s Sent) MarshalJSON() ([]byte, error) { return []byte(s), nil }

// configuration is a Configuration in its form from clients.
type configuration struct {
	MetaData json.RawMessage
}

// Configured returns the provider with the configuration from a client applied, and the
// problems of this configuration. Settings are replaced as a whole, because clients send them
// as one text. replaced is false if the client sent no settings: those of the record stay.
func (p Provider) Configured() (_ Provider, replaced bool, wrong table.Problems) {
	p.Type = cmp.Or(p.Type, TykPro)
	var sent configuration
	if p.Sent != "" {
		if err := json.Unmarshal([]byte(p.Sent), &sent); err != nil {
			return p, false, table.Problems{"Configuration is invalid"}
		}
	}
	p.Sent = ""
	if len(sent.MetaData) == 0 || bytes.Equal(sent.MetaData, []byte("null")) {
		if p.Settings.URL == "" {
			wrong = table.Problems{"MetaData can't be blank"}
		}
		return p, false, wrong
	}
	p.Settings, wrong = ParseSettings(sent.MetaData)
	return p, true, wrong
}
