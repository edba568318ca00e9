// Package apidef models the API definitions that gateways load. A definition belongs to its
// author: its text is stored unchanged, and rules read only a few members of it.
package apidef

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

// Kind is the name of the resource in storage, history and the change log.
const Kind = "api"

// Class says which endpoints manage an API.
type Class string

// The classes of APIs.
const (
	Classic Class = "classic"
	OAS     Class = "oas"     // OpenAPI document with the vendor extension
	Streams Class = "streams" // the same with x-tyk-streaming
	MCP     Class = "mcp"     // MCP proxy; its own permission and lists
)

// API is one API of any class. It is immutable: every change returns a new API. Gateways
// execute the classic definition, so every class has one.
type API struct {
	id         string // database ID, 24 hex digits
	class      Class
	definition json.RawMessage
	document   json.RawMessage // OpenAPI document; nil for Classic
	wrapper    doc.Object      // the other members of the wrapper
	created    time.Time
	updated    time.Time
	facts      *facts
	quiet      bool   // the last change does not concern gateways
	stored     []byte // the API as stored, which contains the other texts; nil until AppendJSON makes it
}

// Draft is the input for an API: texts that are valid JSON objects.
type Draft struct {
	ID         string // database ID
	APIID      string
	OrgID      tenant.ID
	Class      Class
	Definition *doc.Node // classic definition; New adds the identifiers
	Document   *doc.Node // OpenAPI document; nil for Classic
	Wrapper    doc.Object
	Gone       []string  // members to remove from the wrapper; for Rewrite
	Created    time.Time // of an imported API; zero: now
}

// New makes an API. It writes the identifiers into the definition, and into the vendor
// extension of the document.
func New(d Draft, now time.Time) (API, error) {
	a := API{id: d.ID, class: d.Class, created: now}
	if !d.Created.IsZero() && d.Created.Before(now) {
		a.created = d.Created.UTC()
	}
	a.wrapper = own(d.Wrapper)
	return a.write(d, now)
}

// Rewrite returns a with another definition and document. The database ID, the organisation,
// the class and the time of creation stay, and the draft's values for them are ignored. One
// exception: an OAS API becomes one of streams when its document gets streams. Members of the
// wrapper stay unless the draft replaces or removes them.
func (a API) Rewrite(d Draft, now time.Time) (API, error) {
	d.ID, d.OrgID, d.Class = a.id, a.OrgID(), a.class
	if d.APIID == "" {
		d.APIID = a.APIID()
	}
	e := a.wrapper.Edit()
	for name, raw := range own(d.Wrapper).All() {
		e.Set(name, raw)
	}
	for _, name := range d.Gone {
		e.Delete(name)
	}
	a.wrapper = e.Object()
	return a.write(d, now)
}

func (a API) write(d Draft, now time.Time) (API, error) {
	def := d.Definition
	if a.class == OAS && d.Document.Get("x-tyk-streaming") != nil { // gateways run streams even if the document was sent as OAS
		a.class = Streams
	}
	if err := a.checkCaps(def); err != nil {
		return a, err
	}
	// A new name must not be displayed as another one; a name that stays is accepted. The name is in
	// the document, if there is one, and in the definition, which is derived from it.
	field, before := "name", ""
	if d.Document != nil {
		field = "x-tyk-api-gateway.info.name"
	}
	if a.facts != nil {
		before = a.facts.name
	}
	if flaw := label.Flaw(def.Get("name").Text(), before); flaw != "" {
		return a, fault.New(fault.Invalid, Kind+".invalid", "%s %s", field, flaw).At(field)
	}
	def.Set("id", doc.NewString(d.ID))
	def.Set("api_id", doc.NewString(d.APIID))
	def.Set("org_id", doc.NewString(string(d.OrgID)))
	if d.Document != nil {
		if info := d.Document.Get("x-tyk-api-gateway", "info"); info.Is(doc.TypeObject) {
			info.Set("dbId", doc.NewString(d.ID))
			info.Set("id", doc.NewString(d.APIID))
			info.Set("orgId", doc.NewString(string(d.OrgID)))
		}
	}
	a.updated, a.quiet = now, false
	if d.Document == nil {
		a.assemble(def.Size(), def, nil)
	} else {
		a.assemble(def.Size()+d.Document.Size(), def, d.Document)
	}
	var err error
	a.facts, err = read(a.definition)
	return a, err
}

// assemble makes the texts of an API in one buffer of about size bytes: they are slices of the
// API as stored, so that a large document is in memory only once. document is nil for a
// classic API.
func (a *API) assemble(size int, definition, document doc.Appender) {
	size += 512
	for name, raw := range a.wrapper.All() {
		size += len(name) + len(raw) + 8
	}
	b := append(a.appendHead(make([]byte, 0, size)), `"api_definition":`...)
	definitionAt := len(b)
	b, _ = definition.AppendJSON(b)
	definitionEnd, documentAt := len(b), len(b)
	if document != nil {
		b = append(b, `,"oas":`...)
		documentAt = len(b)
		b, _ = document.AppendJSON(b)
	}
	documentEnd := len(b)
	b = append(a.appendTimes(a.appendWrapper(b)), '}')
	a.definition, a.document, a.stored = b[definitionAt:definitionEnd:definitionEnd], nil, b[:len(b):len(b)]
	if document != nil {
		a.document = b[documentAt:documentEnd:documentEnd]
	}
}

// WrapperNames are the known members of the wrapper: other spellings of them are refused. The
// definition and the document are checked elsewhere.
var WrapperNames = shape.Object(
	shape.Members(strings.Join(serverOwned, " ")+" is_site sort_by user_owners user_group_owners categories", shape.Raw),
	shape.Members("hook_references", shape.List(shape.Object(shape.Members("event_name event_timeout disabled", shape.Raw), shape.Members("hook", webhook.Names)))),
)

// serverOwned are the members of a wrapper that clients cannot set here: the server sets them,
// or the API has a field for them.
var serverOwned = []string{
	"api_definition", "api_model", "oas", "is_streams", "created_at", "updated_at", "_id", "org_id", "class", "compliance_status",
}

func own(o doc.Object) doc.Object {
	e := o.Edit()
	for _, name := range serverOwned {
		e.Delete(name)
	}
	return e.Object()
}

// ID returns the database ID.
func (a API) ID() string { return a.id }

// APIID returns the identifier for keys, policies and gateways.
func (a API) APIID() string { return a.facts.apiID }

// OrgID returns the organisation.
func (a API) OrgID() tenant.ID { return tenant.ID(a.facts.orgID) }

// Class returns which endpoints manage the API.
func (a API) Class() Class { return a.class }

// IsMCP reports whether the API is an MCP proxy.
func (a API) IsMCP() bool { return a.class == MCP }

// Definition returns the text of the classic definition. Treat it as read-only.
func (a API) Definition() json.RawMessage { return a.definition }

// Document returns the text of the OpenAPI document; nil for a classic API.
func (a API) Document() json.RawMessage { return a.document }

// Quiet reports whether the last change does not concern gateways: owners, categories and the
// addresses in a document (docs/wire/announcements.md#commands).
func (a API) Quiet() bool { return a.quiet }

// Quietly returns a copy of a with Quiet true.
func (a API) Quietly() API {
	a.quiet = true
	return a
}

// Created returns when the API was created.
func (a API) Created() time.Time { return a.created }

// Updated returns when the API was last written.
func (a API) Updated() time.Time { return a.updated }

// HookReferences returns the text of the wrapper's hook_references: webhooks by
// event; nil when there are none.
func (a API) HookReferences() json.RawMessage {
	raw, _ := a.wrapper.Get("hook_references")
	if doc.IsNull(raw) {
		return nil
	}
	return raw
}

// Texts returns the trees of the definition and the document. The caller may edit them.
func (a API) Texts() (definition, document *doc.Node, err error) {
	if definition, err = doc.ParseNode(a.definition); err != nil || a.document == nil {
		return definition, nil, err
	}
	document, err = doc.ParseNode(a.document)
	return definition, document, err
}

// Size returns the approximate size of the API as text, in bytes.
func (a API) Size() int { return len(a.definition) + len(a.document) }

// AppendJSON implements doc.Appender: it appends the API as stored. For nil it may return the
// text that the API keeps: treat the result as read-only.
func (a API) AppendJSON(b []byte) ([]byte, error) {
	if a.stored != nil && b == nil {
		return a.stored, nil
	}
	parts := a.parts()
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	b = slices.Grow(b, size)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b, nil
}

// parts returns the texts that concatenate to the API as stored.
func (a API) parts() [][]byte {
	if a.stored != nil {
		return [][]byte{a.stored}
	}
	out := [][]byte{append(a.appendHead(nil), `"api_definition":`...), a.definition}
	if a.document != nil {
		out = append(out, []byte(`,"oas":`), a.document)
	}
	return append(out, append(a.appendTimes(a.appendWrapper(nil)), '}'))
}

// keeps reports whether text is the API as stored. The definition and the document are usually
// slices of this text, so the comparison costs next to nothing.
func (a API) keeps(text []byte) bool {
	for _, p := range a.parts() {
		if !bytes.HasPrefix(text, p) {
			return false
		}
		text = text[len(p):]
	}
	return len(text) == 0
}

func (a API) appendHead(b []byte) []byte {
	b = doc.AppendString(append(b, `{"_id":`...), a.id)
	return append(doc.AppendString(append(b, `,"class":`...), string(a.class)), ',')
}

// Over returns the API with its texts as slices of the stored text, so that they are in memory
// only once.
func (a API) Over(stored []byte) API {
	bare := API{id: a.id, class: a.class}
	head, _ := bare.AppendJSON(nil) // it cannot fail
	at := bytes.Index(head, []byte(`"api_definition":`)) + len(`"api_definition":`)
	definition, ok := textAt(stored, at, a.definition)
	if !ok {
		return a
	}
	if bytes.Equal(a.stored, stored) {
		a.stored = stored[:len(stored):len(stored)]
	} else {
		a.stored = nil
	}
	document, ok := textAt(stored, at+len(definition)+len(`,"oas":`), a.document)
	if a.definition = definition; ok && a.document != nil {
		a.document = document
	}
	return a
}

// textAt returns the part of text at an offset, if it equals want.
func textAt(text []byte, at int, want json.RawMessage) (json.RawMessage, bool) {
	if at > len(text) || !bytes.HasPrefix(text[at:], want) {
		return nil, false
	}
	return text[at : at+len(want) : at+len(want)], true
}

func (a API) appendWrapper(b []byte) []byte {
	for name, raw := range a.wrapper.All() {
		b = append(doc.AppendString(append(b, ','), name), ':')
		b = append(b, raw...)
	}
	return b
}

func (a API) appendTimes(b []byte) []byte {
	b = append(append(b, `,"created_at":"`...), a.created.Format(time.RFC3339Nano)...)
	return append(append(append(b, `","updated_at":"`...), a.updated.Format(time.RFC3339Nano)...), '"')
}

// MarshalJSON implements json.Marshaler: the API as stored.
func (a API) MarshalJSON() ([]byte, error) { return a.AppendJSON([]byte{}) }

// Load decodes a stored API. It trusts the text.
func Load(text []byte) (a API, err error) {
	o, err := doc.LoadObject(text)
	if err != nil {
		return a, err
	}
	var head struct {
		ID      string    `json:"_id"`
		Class   Class     `json:"class"`
		Created time.Time `json:"created_at"`
		Updated time.Time `json:"updated_at"`
	}
	small := doc.Object{}.Edit()
	for _, name := range []string{"_id", "class", "created_at", "updated_at"} {
		if raw, ok := o.Get(name); ok {
			small.Set(name, raw)
		}
	}
	stored, err := small.Object().AppendJSON(nil)
	if err == nil {
		err = json.Unmarshal(stored, &head)
	}
	if err != nil {
		return a, err
	}
	a = API{id: head.ID, class: head.Class, created: head.Created, updated: head.Updated, wrapper: own(o)}
	if a.definition, _ = o.Get("api_definition"); !doc.IsObject(a.definition) {
		a.definition = json.RawMessage("{}") // another program has written the record
	}
	if a.document, _ = o.Get("oas"); doc.IsNull(a.document) {
		a.document = nil
	}
	if len(text) > large && a.keeps(text) {
		a.stored = text[:len(text):len(text)]
	}
	a.facts, err = read(a.definition)
	return a, err
}

// large is the size in bytes from which the text of a stored API is kept, so that writing it
// again does not have to encode it.
const large = 64 << 10
