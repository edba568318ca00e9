package forms

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/ports/openapi"
)

// WantExtension refuses a document without the vendor extension.
func WantExtension(document *doc.Node) error {
	if document.Get(oas.ExtensionKey).Is(doc.TypeObject) {
		return nil
	}
	return fault.New(fault.Invalid, CodeExtension, "The payload should contain x-tyk-api-gateway.").At(oas.ExtensionKey)
}

// WantStreams refuses a document that has neither the vendor extension nor streams.
func WantStreams(document *doc.Node) error {
	if document.Get(oas.ExtensionKey).Is(doc.TypeObject) || document.Get(streamsKey).Is(doc.TypeObject) {
		return nil
	}
	return fault.New(fault.Invalid, CodeExtension, "The payload should contain x-tyk-api-gateway and/or x-tyk-streaming.").At(streamsKey)
}

// KeepStreams gives a document the streams of another one, unless it has its own.
func KeepStreams(document, stored *doc.Node) {
	if document.Get(streamsKey) == nil {
		document.Set(streamsKey, stored.Get(streamsKey).Clone())
	}
}

// Document refuses a document that does not have the form of its class. unknown
// lets unknown members of the extension pass.
func (f *Forms) Document(document *doc.Node, class apidef.Class, unknown bool) error {
	if err := f.Streamable(document); err != nil {
		return err
	}
	if err := refused(f.validate(document, class, unknown)); err != nil {
		return err
	}
	return typed(feed.Document(document)) // what feeds would leave out is not stored
}

// variants says how the documents of a class are checked.
var variants = map[apidef.Class]openapi.Variant{apidef.OAS: openapi.OAS, apidef.Streams: openapi.Streams, apidef.MCP: openapi.MCP}

// validate says what is wrong with the form of a document of a class. Streams obey
// their own rules wherever they stand.
func (f *Forms) validate(document *doc.Node, class apidef.Class, unknown bool) []validation.Problem {
	options := openapi.Options{
		Variant: variants[class], AllowUnknown: unknown, Examples: f.Settings.Examples, Defaults: f.Settings.Defaults, AllStreams: f.Settings.AllStreams,
	}
	if document.Get(streamsKey) != nil && class != apidef.MCP { // which have none
		options.Variant = openapi.Streams
	}
	return f.Validator.Validate(document, options)
}

// normalise brings a document into the form that is stored.
func (f *Forms) normalise(document *doc.Node) {
	if ext := document.Get(oas.ExtensionKey); f.Settings.ForceDefaults && ext.Is(doc.TypeObject) {
		ext.Put(doc.NewBool(true), "server", "listenPath", "strip")
	}
	oas.Normalise(document)
}

// Link is what the addresses of a child version depend on; it is empty for an API
// that is none.
type Link struct {
	Base, OldBase *doc.Node // classic definition of the base, now and before
	Version       string    // name of the version; "" means that the base knows it
}

// Convert makes the classic form that gateways execute out of the document of a
// draft, over the stored one, and puts the addresses of gateways into the document.
func (f *Forms) Convert(d *apidef.Draft, stored *doc.Node, k Link) error {
	return f.convert(d, stored, stored, k)
}

// Unite brings the two forms of an OAS API together when a client writes them side by
// side, over the stored ones: a document that it has not changed follows the definition,
// any other one is followed by the definition.
func (f *Forms) Unite(d *apidef.Draft, definition, document *doc.Node, k Link) error {
	follows := d.Document == nil || d.Document.Equal(document)
	if follows {
		if filled := oas.Fill(document, d.Definition); filled.Equal(oas.Fill(document, definition)) {
			d.Document = document.Clone()
		} else {
			d.Document = filled
			oas.Conform(d.Document)
		}
	}
	Identify(*d)
	if err := f.Document(d.Document, d.Class, follows); err != nil {
		return err
	}
	return f.convert(d, d.Definition, definition, k)
}

// convert makes the classic form over another one, and the addresses in place of those of
// the stored one.
func (f *Forms) convert(d *apidef.Draft, over, stored *doc.Node, k Link) error {
	document := d.Document
	f.normalise(document)
	d.Definition = oas.Extract(document, oas.Remains(over), oas.Options{MCP: d.Class == apidef.MCP})
	d.Definition.Set("is_oas", doc.NewBool(true))
	if unserved(document) {
		return shelve(d)
	}
	if stored.Get("proxy", "listen_path").Text() == "" {
		stored = nil // it had no addresses
	}
	if err := servers.Merge(document, servers.Input{
		New: d.Definition, Old: stored, Base: k.Base, OldBase: k.OldBase, VersionName: k.Version, Config: f.Hosts,
	}); err != nil {
		return err
	}
	if err := refused(derivedProblems(d.Definition)); err != nil {
		return err
	}
	return typed(classic.Check(d.Definition))
}

// derivedProblems says what is wrong with the classic form of a document. The
// upstream is named as the document has it.
func derivedProblems(def *doc.Node) []validation.Problem {
	problems := validation.Classic(def)
	for i, p := range problems {
		switch {
		case p.Field == "proxy.target_url":
			problems[i].Field = oas.ExtensionKey + ".upstream.url"
		case strings.HasPrefix(p.Field, "proxy.target_list."): // where each stands as often as it weighs
			problems[i].Field = oas.ExtensionKey + ".upstream.loadBalancing.targets"
		}
	}
	return problems
}

// unserved reports whether a document says nothing to gateways yet: streams may
// come without the vendor extension.
func unserved(document *doc.Node) bool {
	return document.Get(oas.ExtensionKey) == nil && document.Get(streamsKey) != nil
}

// shelve completes the classic form of an API that is not served yet: it has a
// name to be listed by, is switched off and listens nowhere.
func shelve(d *apidef.Draft) error {
	d.Definition.Set("name", doc.NewString(d.Document.Get("info", "title").Text()))
	d.Definition.Set("active", doc.NewBool(false))
	return typed(classic.Check(d.Definition))
}
