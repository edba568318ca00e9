// Package webhook models the HTTP calls that gateways make on events of an API: their address,
// method and headers. Gateways never see a webhook itself, only event handlers that were made
// from it (docs/wire/webhooks.md#event-handlers).
package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/core/weburl"
)

// Kind is the name of the resource in storage, history and references.
const Kind = "webhook"

// Hook is one webhook. It is immutable: every change returns another (docs/wire/webhooks.md#record).
type Hook struct {
	ID    string // 24 hex digits, set by the server
	OrgID tenant.ID
	Draft
}

// Draft has the members of a webhook that a client may set; other members are ignored
// (docs/wire/requests.md#unknown-members).
type Draft struct {
	WebhookID    string // chosen by the client, unique in the organisation; may be empty
	Name         string
	Method       string     // one of Methods
	TargetPath   string     // absolute URL
	TemplatePath string     // file on the gateway; "" is its default template
	Headers      doc.Object // texts by header name
	EventTimeout int64      // seconds during which an identical call is not repeated
	Model        doc.Object // part of the API model; without effect here
}

// Methods are the HTTP methods of webhooks.
var Methods = []string{"GET", "PUT", "POST", "PATCH", "DELETE"}

// New makes a webhook from a draft, or returns a fault that names the invalid field.
func New(id string, org tenant.ID, d Draft) (Hook, error) { return Hook{ID: id, OrgID: org}.Replace(d) }

// Replace returns h with the values of the draft: members that are absent from the draft
// become empty.
func (h Hook) Replace(d Draft) (Hook, error) {
	if !slices.Contains(Methods, d.Method) {
		return Hook{}, invalid("method", "webhook method must be one of GET, PUT, POST, PATCH and DELETE")
	}
	if !Reachable(d.TargetPath) {
		return Hook{}, invalid("target_path", "webhook target_path must be an absolute http or https URL")
	}
	if flaw := label.Flaw(d.Name, h.Name); flaw != "" {
		return Hook{}, invalid("name", "webhook name "+flaw)
	}
	h.Draft = d
	if text, err := h.AppendJSON(nil); err != nil || len(text) > MaxBytes {
		return Hook{}, invalid("header_map", fmt.Sprintf("webhook is too large: with all its members it has %d bytes at most", MaxBytes))
	}
	return h, nil
}

// MaxBytes is the maximum size of a webhook as JSON: every API that refers to it gets a copy,
// and every node all copies (docs/wire/webhooks.md#record).
const MaxBytes = 32 << 10

// CodeInvalid is the code of the fault for a webhook that gateways cannot use.
const CodeInvalid = Kind + ".invalid"

func invalid(field, text string) error {
	return fault.New(fault.Invalid, CodeInvalid, "%s", text).At(field)
}

// Reachable reports whether a text is an absolute http or https URL with a host.
func Reachable(target string) bool { return weburl.Absolute(target) }

// field is one member of a draft, with the variable that it is decoded into.
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

// Names is an object with the members of a webhook. Another spelling of a member is refused,
// since gateways would accept it in the event handler that is made from the webhook.
var Names = shape.Object(shape.Members("id org_id webhook_id name method target_path template_path header_map event_timeout api_model", shape.Raw))

// UnmarshalJSON decodes a draft. The types are those of the gateway's event handler.
func (d *Draft) UnmarshalJSON(text []byte) error {
	if err := Names.Spelling(text); err != nil {
		return err
	}
	o, err := doc.ParseObject(bytes.Clone(text))
	if err != nil {
		return err
	}
	return d.read(o)
}

func (d *Draft) read(o doc.Object) error {
	for _, f := range d.fields() {
		if err := read(o, f); err != nil {
			return err
		}
	}
	return nil
}

// read decodes one member if it is present; an error names the member.
func read(o doc.Object, f field) error {
	raw, ok := o.Get(f.name)
	if !ok || doc.IsNull(raw) {
		return nil
	}
	err := json.Unmarshal(raw, f.into)
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if t.Field != "" {
			t.Field = "." + t.Field
		}
		t.Field = f.name + t.Field
	}
	return err
}

// Load reads a stored record. Names must match exactly: another spelling of org_id must not
// change the owner of a record.
func Load(text []byte) (h Hook, err error) {
	o, err := doc.ParseObject(bytes.Clone(text))
	if err != nil {
		return h, err
	}
	for _, f := range []field{{"id", &h.ID}, {"org_id", &h.OrgID}} {
		if err = read(o, f); err != nil {
			return h, err
		}
	}
	return h, h.read(o)
}

// UnmarshalJSON implements json.Unmarshaler.
func (h *Hook) UnmarshalJSON(text []byte) (err error) {
	*h, err = Load(text)
	return err
}

// AppendJSON implements doc.Appender: the record as it is stored and sent in responses.
func (h Hook) AppendJSON(b []byte) ([]byte, error) {
	b = doc.AppendString(append(b, `{"id":`...), h.ID)
	b = doc.AppendString(append(b, `,"org_id":`...), string(h.OrgID))
	for _, f := range [...]struct{ name, value string }{
		{`,"webhook_id":`, h.WebhookID}, {`,"name":`, h.Name}, {`,"method":`, h.Method}, {`,"target_path":`, h.TargetPath}, {`,"template_path":`, h.TemplatePath},
	} {
		b = doc.AppendString(append(b, f.name...), f.value)
	}
	b, _ = h.Headers.AppendJSON(append(b, `,"header_map":`...)) // an object of texts can always be encoded
	b = strconv.AppendInt(append(b, `,"event_timeout":`...), h.EventTimeout, 10)
	b, _ = h.Model.AppendJSON(append(b, `,"api_model":`...)) // as above
	return append(b, '}'), nil
}

// MarshalJSON implements json.Marshaler.
func (h Hook) MarshalJSON() ([]byte, error) { return h.AppendJSON(nil) }
