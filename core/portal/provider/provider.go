// Package provider models the dashboards that a portal is connected to
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

// TykPro is the one type of providers.
const TykPro = "tyk-pro"

// Provider is one dashboard, as one of its users sees it.
type Provider struct {
	table.Base
	Name     string
	Type     string
	Settings Settings
	// Sent is the configuration that a client has sent, until Configured has taken it.
	Sent Sent `json:"-"`
}

// Table implements table.Row.
func (Provider) Table() *table.Table[Provider] { return rows }

var rows = &table.Table[Provider]{
	Kind: Kind, Noun: "provider",
	Base: func(p *Provider) *table.Base { return &p.Base },
	Fields: []table.Field[Provider]{
		{Name: "Name", At: func(p *Provider) any { return &p.Name }, Required: true, Max: 255},
		{Name: "Type", At: func(p *Provider) any { return &p.Type }, Enum: []string{TykPro}, Doc: "There is one type, which is the default."},
		{Name: "Configuration", At: func(p *Provider) any { return &p.Sent }},
	},
	Check: func(p Provider, wrong *table.Problems) {
		_, problems := p.Configured()
		*wrong = append(*wrong, problems...)
	},
}

// Sent is the text of a configuration. Clients send an object, or its text.
type Sent string

// Take implements table.Taker.
func (s *Sent) Take(sent any) (done, ok bool) {
	if text, isText := sent.(string); isText {
		*s = Sent(text)
		return true, text == "" || json.Valid([]byte(text))
	}
	object, ok := sent.(map[string]any)
	text, err := json.Marshal(object)
	if *s = Sent(text); sent == nil {
		*s = ""
	}
	return true, sent == nil || ok && err == nil
}

// Schema implements table.Taker.
func (*Sent) Schema() map[string]any {
	return map[string]any{
		"type": "object",
		"properties": map[string]any{
			"ID": map[string]any{"type": "integer", "description": "Of the configuration; ignored in requests."},
			"MetaData": map[string]any{"type": "string",
				"description": "JSON text of an object with URL (of the dashboard, required), Secret (access key of one of its users), OrgID, Gateway (base address shown to developers), PoliciesTags and InsecureSkipVerify. The object itself is taken, too."},
		},
	}
}

// MarshalJSON implements json.Marshaler: examples show the plain form.
func (s Sent) MarshalJSON() ([]byte, error) { return []byte(s), nil }

// configuration is a Configuration as clients send it.
type configuration struct {
	MetaData json.RawMessage
}

// Configured returns the provider with what a client has sent as its configuration, and
// what is wrong with that. Settings are replaced as a whole: the client sends them as
// one text.
func (p Provider) Configured() (Provider, table.Problems) {
	p.Type = cmp.Or(p.Type, TykPro)
	var sent configuration
	if p.Sent != "" {
		if err := json.Unmarshal([]byte(p.Sent), &sent); err != nil {
			return p, table.Problems{"Configuration is invalid"}
		}
	}
	p.Sent = ""
	if len(sent.MetaData) == 0 || bytes.Equal(sent.MetaData, []byte("null")) {
		if p.Settings.URL == "" {
			return p, table.Problems{"MetaData can't be blank"}
		}
		return p, nil
	}
	var wrong table.Problems
	p.Settings, wrong = ParseSettings(sent.MetaData)
	return p, wrong
}
