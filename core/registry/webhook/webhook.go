// Package webhook models the calls that gateways make when something happens to
// an API: where to, how, and with which headers. Gateways never see a webhook
// itself, only event handlers that were made from it (contract gateway.md 9).
package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name of the resource in storage, history and references.
const Kind = "webhook"

// Hook is one webhook. It is immutable: every change returns another (contract
// dashboard.md 18).
type Hook struct {
	ID    string // 24 hex digits, set by the server
	OrgID tenant.ID
	Draft
}

// Draft is what a client may choose about a webhook. Members it does not know
// are kept as they came: a newer gateway or client may know them.
type Draft struct {
	WebhookID    string // chosen by the client, unique in the organisation; may be empty
	Name         string
	Method       string     // one of Methods
	TargetPath   string     // absolute URL
	TemplatePath string     // file on the gateway; "" is its default template
	Headers      doc.Object // texts by header name
	EventTimeout int64      // seconds during which an identical call is not repeated
	Model        doc.Object // of the API model; without meaning here
	more         doc.Object
}

// Methods are the HTTP methods of webhooks.
var Methods = []string{"GET", "PUT", "POST", "PATCH", "DELETE"}

// New makes a webhook out of a draft, or says which field is wrong.
func New(id string, org tenant.ID, d Draft) (Hook, error) { return Hook{ID: id, OrgID: org}.Replace(d) }

// Replace returns h with the draft's choices: whatever the draft leaves out is
// empty afterwards.
func (h Hook) Replace(d Draft) (Hook, error) {
	if !slices.Contains(Methods, d.Method) {
		return Hook{}, invalid("method", "webhook method must be one of GET, PUT, POST, PATCH and DELETE")
	}
	if !reachable(d.TargetPath) {
		return Hook{}, invalid("target_path", "webhook target_path must be an absolute http or https URL")
	}
	h.Draft = d
	return h, nil
}

// CodeInvalid is the code of the fault for a webhook that gateways could not use.
const CodeInvalid = Kind + ".invalid"

func invalid(field, text string) error {
	return fault.New(fault.Invalid, CodeInvalid, "%s", text).At(field)
}

func reachable(target string) bool {
	u, err := url.Parse(target)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// field is one member that a draft knows, with the place it is read to.
type field struct {
	name string
	into any
}

func (d *Draft) fields() [8]field {
	return [...]field{
		{"webhook_id", &d.WebhookID}, {"name", &d.Name}, {"method", &d.Method}, {"target_path", &d.TargetPath},
		{"template_path", &d.TemplatePath}, {"header_map", (*headers)(&d.Headers)}, {"event_timeout", &d.EventTimeout}, {"api_model", &d.Model},
	}
}

// UnmarshalJSON reads a draft. Types are those of the gateway's event handler,
// and names are taken literally.
func (d *Draft) UnmarshalJSON(text []byte) error {
	o, err := doc.ParseObject(bytes.Clone(text))
	if err != nil {
		return err
	}
	e := o.Edit()
	e.Delete("id")
	e.Delete("org_id")
	for _, f := range d.fields() {
		raw, ok := e.Get(f.name)
		if !ok {
			continue
		}
		if e.Delete(f.name); doc.IsNull(raw) {
			continue
		}
		if err := read(raw, f); err != nil {
			return err
		}
	}
	d.more = e.Object()
	return nil
}

// read decodes one member; an error names the member.
func read(raw json.RawMessage, f field) error {
	err := json.Unmarshal(raw, f.into)
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		t.Field = joined(f.name, t.Field)
	}
	return err
}

func joined(name, below string) string {
	if below == "" {
		return name
	}
	return name + "." + below
}

// Load reads a stored record.
func Load(text []byte) (h Hook, err error) {
	var server struct {
		ID    string    `json:"id"`
		OrgID tenant.ID `json:"org_id"`
	}
	if err = json.Unmarshal(text, &server); err == nil {
		err = h.Draft.UnmarshalJSON(text)
	}
	h.ID, h.OrgID = server.ID, server.OrgID
	return h, err
}

// UnmarshalJSON implements json.Unmarshaler.
func (h *Hook) UnmarshalJSON(text []byte) (err error) {
	*h, err = Load(text)
	return err
}

// AppendJSON implements doc.Appender: the record as stored and as answered.
func (h Hook) AppendJSON(b []byte) ([]byte, error) {
	b = doc.AppendString(append(b, `{"id":`...), h.ID)
	b = doc.AppendString(append(b, `,"org_id":`...), string(h.OrgID))
	b = h.appendTexts(b, "webhook_id", h.WebhookID, "name", h.Name, "method", h.Method, "target_path", h.TargetPath, "template_path", h.TemplatePath)
	b, _ = h.Headers.AppendJSON(append(b, `,"header_map":`...)) // an object of texts always encodes
	b = strconv.AppendInt(append(b, `,"event_timeout":`...), h.EventTimeout, 10)
	b, _ = h.Model.AppendJSON(append(b, `,"api_model":`...)) // as above
	for name, raw := range h.more.All() {
		b = append(append(doc.AppendString(append(b, ','), name), ':'), raw...)
	}
	return append(b, '}'), nil
}

// appendTexts appends members given as names and values in turn.
func (h Hook) appendTexts(b []byte, pairs ...string) []byte {
	for i := 0; i < len(pairs); i += 2 {
		b = append(doc.AppendString(append(b, ','), pairs[i]), ':')
		b = doc.AppendString(b, pairs[i+1])
	}
	return b
}

// MarshalJSON implements json.Marshaler.
func (h Hook) MarshalJSON() ([]byte, error) { return h.AppendJSON(nil) }
