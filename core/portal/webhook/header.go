package webhook

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Header is a header of the requests to a webhook. Its value is stored only in sealed form.
type Header struct {
	table.Base
	Name      string
	Value     string `json:"-"` // as a client sends it
	Sealed    string // "": the value is empty
	WebhookID table.ID
}

// Table implements table.Row.
func (Header) Table() *table.Table[Header] { return headers }

var headers = &table.Table[Header]{
	Kind: HeaderKind, Noun: "webhook header",
	Base:   func(h *Header) *table.Base { return &h.Base },
	Parent: func(h Header) table.ID { return h.WebhookID },
	Fields: []table.Field[Header]{
		{Name: "Name", At: func(h *Header) any { return &h.Name }, Required: true, Max: 255, Valid: func(h Header) bool { return fit(h.Name) }},
		{Name: "Value", At: func(h *Header) any { return &h.Value }, Max: maxValue},
	},
	Check: func(h Header, wrong *table.Problems) {
		if !printable(h.Value) { // also a value of blanks only, which counts as none
			wrong.Invalid("Value")
		}
	},
	Unique: []table.Unique[Header]{{Name: "name", Taken: "Name has already been taken", Of: func(h Header) string { return h.WebhookID.Key() + " " + strings.ToLower(h.Name) }}},
}

// given are headers of the connection, and headers that every delivery has.
var given = []string{"connection", "content-length", "content-type", "host", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
	"webhook-id", "webhook-signature", "webhook-timestamp", "x-event-id", "x-tyk-signature"}

// fit reports whether clients may choose a header with this name: a token (RFC 9110, 5.6.2).
func fit(name string) bool {
	for _, c := range []byte(name) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return name != "" && !slices.Contains(given, strings.ToLower(name))
}

// printable reports whether a text is a valid value of a header (RFC 9110, 5.5).
func printable(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// Headers are the headers of a new webhook as a client sends them with it.
type Headers []Header

// Take implements table.Taker.
func (h *Headers) Take(sent any) (done, ok bool) {
	list, isList := sent.([]any)
	if sent == nil {
		return true, true
	}
	if !isList || len(list) > MaxHeaders {
		return false, false
	}
	*h = nil
	for _, entry := range list {
		members, isObject := entry.(map[string]any)
		name, isName := table.Text(members["Name"])
		value, isValue := table.Text(members["Value"])
		if !isObject || !isName || !isValue {
			return false, false
		}
		*h = append(*h, Header{Name: name, Value: value})
	}
	return true, true
}

// Schema implements table.Taker.
func (*Headers) Schema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{"type": "array", "items": map[string]any{"type": "object", "properties": map[string]any{"Name": text, "Value": text}}}
}

// check adds what is wrong with the headers.
func (h Headers) check(wrong *table.Problems) {
	seen := map[string]bool{}
	for _, one := range h {
		name := strings.ToLower(one.Name)
		if !fit(one.Name) || len(one.Name) > 255 || len(one.Value) > maxValue || !printable(one.Value) || seen[name] {
			wrong.Invalid("Headers")
		}
		seen[name] = true
	}
}
