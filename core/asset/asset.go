// Package asset models templates of OAS documents, which an organisation stores for making
// APIs. Merging a template into a document is done elsewhere.
package asset

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name of the resource in storage, history and references.
const Kind = "asset"

// Template is the only kind of asset.
const Template = "oas-template"

// Asset is one asset. It is immutable: every change returns a new one
// (docs/wire/assets.md#record).
type Asset struct {
	DatabaseID  string          `json:"_id"` // 24 hex digits, set by the server, never changes
	ID          string          `json:"id"`  // unique in the organisation; by default the DatabaseID
	OrgID       tenant.ID       `json:"org_id"`
	Kind        string          `json:"kind"` // Template
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Data        json.RawMessage `json:"data"` // an object, stored unchanged
	Updated     time.Time       `json:"last_updated"`
}

// Draft is the input of a client for an asset; unknown members are ignored.
type Draft struct {
	ID          string          `json:"id,omitempty" doc:"Identifier, unique in the organisation. Default: the database ID."`
	Kind        string          `json:"kind" doc:"Kind of the asset."`
	Name        string          `json:"name" doc:"For people."`
	Description string          `json:"description,omitempty" doc:"For people."`
	Data        json.RawMessage `json:"data" doc:"Content of the asset: an object."`
}

// known are the members of an asset: other spellings of them are refused.
var known = shape.Object(shape.Members("_id id org_id kind name description data last_updated", shape.Raw))

// UnmarshalJSON implements json.Unmarshaler.
func (d *Draft) UnmarshalJSON(text []byte) error {
	if err := known.Spelling(text); err != nil {
		return err
	}
	type plain Draft
	return json.Unmarshal(text, (*plain)(d))
}

// Codes of the faults of a draft.
const (
	CodeKind = Kind + ".kind"
	CodeName = Kind + ".name"
	CodeData = Kind + ".data"
)

// New makes an asset from a draft, or returns a fault that names the wrong field. Its ID is
// the database ID unless the draft sets one.
func New(id string, org tenant.ID, now time.Time, d Draft) (Asset, error) {
	return Asset{DatabaseID: id, ID: id, OrgID: org}.Replace(d, now)
}

// Replace returns a with the values of the draft. Only an absent or empty ID stays.
func (a Asset) Replace(d Draft, now time.Time) (Asset, error) {
	if err := CheckKind(d.Kind); err != nil {
		return Asset{}, err
	}
	if strings.TrimSpace(d.Name) == "" {
		return Asset{}, fault.New(fault.Invalid, CodeName, "asset name is required").At("name")
	}
	if flaw := label.Flaw(d.Name, a.Name); flaw != "" {
		return Asset{}, fault.New(fault.Invalid, CodeName, "asset name %s", flaw).At("name")
	}
	if !doc.IsObject(d.Data) {
		return Asset{}, fault.New(fault.Invalid, CodeData, "asset data must be an object").At("data")
	}
	if d.ID != "" {
		if !label.InPath(d.ID, maxID) {
			return Asset{}, fault.New(fault.Invalid, CodeID, "invalid asset id").At("id")
		}
		a.ID = d.ID
	}
	a.Kind, a.Name, a.Description, a.Data, a.Updated = d.Kind, d.Name, d.Description, bytes.Clone(d.Data), now
	return a, nil
}

// CheckKind refuses an unknown kind of asset.
func CheckKind(kind string) error {
	if kind != Template {
		return fault.New(fault.Invalid, CodeKind, "unsupported asset kind: '%s'", kind).At("kind")
	}
	return nil
}

// maxID is the maximum length of an ID in characters.
const maxID = 256

// CodeID is the code of the fault for an ID that cannot be part of a path.
const CodeID = Kind + ".id"

// AppendJSON implements doc.Appender: the record as stored and as sent to clients. The text of
// data stays unchanged.
func (a Asset) AppendJSON(b []byte) ([]byte, error) {
	for _, f := range [...]struct{ name, value string }{
		{`{"_id":`, a.DatabaseID}, {`,"id":`, a.ID}, {`,"org_id":`, string(a.OrgID)}, {`,"kind":`, a.Kind},
		{`,"name":`, a.Name}, {`,"description":`, a.Description},
	} {
		b = doc.AppendString(append(b, f.name...), f.value)
	}
	b = append(append(b, `,"data":`...), a.Data...)
	b = append(append(b, `,"last_updated":"`...), a.Updated.Format(time.RFC3339Nano)...)
	return append(b, `"}`...), nil
}

// MarshalJSON implements json.Marshaler.
func (a Asset) MarshalJSON() ([]byte, error) { return a.AppendJSON(nil) }
