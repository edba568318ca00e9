package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Settings say how to connect to a dashboard, and which of its data the portal shows.
type Settings struct {
	table.Base         `json:"-"`
	URL                string
	Secret             string // access key of a user; sealed where it is stored
	OrgID              string
	Gateway            string // base URL for developers
	PoliciesTags       []string
	InsecureSkipVerify bool
}

// Table implements table.Row.
func (Settings) Table() *table.Table[Settings] { return settings }

var settings = &table.Table[Settings]{
	Kind: Kind + "-settings", Noun: "provider settings",
	Base: func(s *Settings) *table.Base { return &s.Base },
	Fields: []table.Field[Settings]{
		{Name: "URL", At: func(s *Settings) any { return &s.URL }, Required: true, Max: 2048, Valid: func(s Settings) bool { return isAddress(s.URL) }},
		{Name: "Secret", At: func(s *Settings) any { return &s.Secret }, Max: 4096, Valid: func(s Settings) bool { return visible(s.Secret) }},
		{Name: "OrgID", At: func(s *Settings) any { return &s.OrgID }, Max: 255, Valid: func(s Settings) bool { return visible(s.OrgID) }},
		{Name: "Gateway", At: func(s *Settings) any { return &s.Gateway }, Max: 2048, Valid: func(s Settings) bool { return isAddress(s.Gateway) }},
		{Name: "PoliciesTags", At: func(s *Settings) any { return &s.PoliciesTags }, Valid: func(s Settings) bool {
			return !slices.ContainsFunc(s.PoliciesTags, func(t string) bool { return len(t) > maxTag })
		}},
		{Name: "InsecureSkipVerify", At: func(s *Settings) any { return &s.InsecureSkipVerify }},
	},
}

// Limits of settings.
const (
	maxSettings = 128 << 10 // as text
	maxTag      = 255
)

// ParseSettings parses settings from clients: an object, or the object as JSON text.
func ParseSettings(text json.RawMessage) (s Settings, wrong table.Problems) {
	if len(text) > maxSettings {
		return s, table.Problems{"MetaData is invalid"}
	}
	var inner string
	if json.Unmarshal(text, &inner) == nil {
		text = json.RawMessage(inner)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return s, table.Problems{"MetaData can't be blank"}
	}
	var body table.Body[Settings]
	if !json.Valid(text) || body.UnmarshalJSON(text) != nil {
		return s, table.Problems{"MetaData is invalid"}
	}
	err := body.Apply(&s, true, func(string, string) (table.ID, bool, error) { return 0, false, nil })
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return s, f.All
	}
	s.Base = table.Base{}
	s.PoliciesTags = slices.DeleteFunc(s.PoliciesTags, func(t string) bool { return strings.TrimSpace(t) == "" })
	return s, nil
}

// MetaData returns the settings in their form for clients: an object as JSON text.
func (s Settings) MetaData() string {
	if s.PoliciesTags == nil {
		s.PoliciesTags = []string{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // encoding texts never fails
	}
	return strings.TrimSpace(b.String())
}

// isAddress reports whether a text is a base URL: http or https, a host, no credentials, no
// query.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil &&
		u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

// visible reports whether a text can be the value of a header.
func visible(text string) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}
