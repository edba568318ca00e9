// Package asset models what an organisation keeps for making APIs: templates of
// OAS documents. How a template is merged into a document is not its concern.
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

// Template is the only kind of asset there is.
const Template = "oas-template"

// Asset is one asset. It is immutable: every change returns another (docs/wire/assets.md#record).
type Asset struct {
	DatabaseID  string          `json:"_id"` // 24 hex digits, set by the server, never changes
	ID          string          `json:"id"`  // unique in the organisation; the DatabaseID unless chosen
	OrgID       tenant.ID       `json:"org_id"`
	Kind        string          `json:"kind"` // Template
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Data        json.RawMessage `json:"data"` // an object, as it came
	Updated     time.Time       `json:"last_updated"`
}

// Draft is what a client may choose about an asset; other members are ignored.
type Draft struct {
	ID          string          `json:"id,omitempty" doc:"Unique in the organisation; the database ID when left out."`
	Kind        string          `json:"kind" doc:"What sort of asset it is."`
	Name        string          `json:"name" doc:"For people."`
	Description string          `json:"description,omitempty" doc:"For people."`
	Data        json.RawMessage `json:"data" doc:"What the asset holds: an object."`
}

// known are the members of an asset: another spelling of one is refused.
var known = shape.Object(shape.Members("_id id org_id kind name description data last_updated", shape.Raw))

// UnmarshalJSON implements json.Unmarshaler.
func (d *Draft) UnmarshalJSON(text []byte) error {
	if err := known.Spelling(text); err != nil {
		return err
	}
	type plain Draft
	return json.Unmarshal(text, (*plain)(d))
}

// Codes of the faults that a draft can be answered with.
const (
	CodeKind = Kind + ".kind"
	CodeName = Kind + ".name"
	CodeData = Kind + ".data"
)

// New makes an asset out of a draft, or says which field is wrong. Its id is its
// database ID unless the draft chooses one.
func New(id string, org tenant.ID, now time.Time, d Draft) (Asset, error) {
	return Asset{DatabaseID: id, ID: id, OrgID: org}.Replace(d, now)
}

// Replace returns a with the draft's choices; only an absent or empty id is kept.
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

// CheckKind refuses a kind of asset that does not exist.
func CheckKind(kind string) error {
	if kind != Template {
		return fault.New(fault.Invalid, CodeKind, "unsupported asset kind: '%s'", kind).At("kind")
	}
	return nil
}

// maxID is the length limit of an id in characters.
const maxID = 256

// CodeID is the code of the fault for an id that could not be addressed in a path.
const CodeID = Kind + ".id"

// AppendJSON implements doc.Appender: the record as stored and as answered. The
// text of data stays as it came.
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
