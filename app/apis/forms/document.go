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

// KeepStreams copies the streams of the stored document, unless the new one has its
// own.
func KeepStreams(document, stored *doc.Node) {
	if document.Get(streamsKey) == nil {
		document.Set(streamsKey, stored.Get(streamsKey).Clone())
	}
}

// Document refuses a document that does not have the form of its class. With unknown,
// unknown members of the extension are accepted.
func (f *Forms) Document(document *doc.Node, class apidef.Class, unknown bool) error {
	if err := f.Streamable(document); err != nil {
		return err
	}
	if err := refused(f.validate(document, class, unknown)); err != nil {
		return err
	}
	return typed(feed.Document(document)) // documents that feeds would leave out are not stored
}

// variants has the schema variant of the documents of each class.
var variants = map[apidef.Class]openapi.Variant{apidef.OAS: openapi.OAS, apidef.Streams: openapi.Streams, apidef.MCP: openapi.MCP}

// validate returns the problems of a document of a class. Documents with streams are
// checked as streams, whatever their class.
func (f *Forms) validate(document *doc.Node, class apidef.Class, unknown bool) []validation.Problem {
	options := openapi.Options{
		Variant: variants[class], AllowUnknown: unknown, Examples: f.Settings.Examples, Defaults: f.Settings.Defaults, AllStreams: f.Settings.AllStreams,
	}
	if document.Get(streamsKey) != nil && class != apidef.MCP { // MCP proxies have no streams
		options.Variant = openapi.Streams
	}
	return f.Validator.Validate(document, options)
}

// normalise converts a document to the form that is stored.
func (f *Forms) normalise(document *doc.Node) {
	if ext := document.Get(oas.ExtensionKey); f.Settings.ForceDefaults && ext.Is(doc.TypeObject) {
		ext.Put(doc.NewBool(true), "server", "listenPath", "strip")
	}
	oas.Normalise(document)
}

// Link is what the addresses of a child version depend on. It is empty for an API that
// is no child version.
type Link struct {
	Base, OldBase *doc.Node // classic definition of the base, now and before
	Version       string    // name of the version; "" if the table of the base has it
	// Others are the classic definitions of further bases, which stay as they are.
	Others []*doc.Node
}

// Convert derives the classic form for gateways from the document of a draft, on the
// basis of the stored classic form, and writes the addresses of gateways into the
// document.
func (f *Forms) Convert(d *apidef.Draft, stored *doc.Node, k Link) error {
	return f.convert(d, stored, stored, k)
}

// Unite brings the two forms of an OAS API into line when a client writes both. If the
// document equals the stored one, it is changed to match the definition. Otherwise the
// definition is derived from the document.
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

// convert derives the classic form on the basis of over, and replaces the addresses
// that followed from the stored form.
func (f *Forms) convert(d *apidef.Draft, over, stored *doc.Node, k Link) error {
	document := d.Document
	f.normalise(document)
	d.Definition = oas.Extract(document, oas.Remains(over), oas.Options{MCP: d.Class == apidef.MCP})
	d.Definition.Set("is_oas", doc.NewBool(true))
	if unserved(document) {
		return shelve(d)
	}
	if stored.Get("proxy", "listen_path").Text() == "" {
		stored = nil // the stored form had no addresses
	}
	if err := servers.Merge(document, servers.Input{
		New: d.Definition, Old: stored, Base: k.Base, OldBase: k.OldBase, VersionName: k.Version, Others: k.Others, Config: f.Hosts,
	}); err != nil {
		return err
	}
	if err := refused(derivedProblems(d.Definition)); err != nil {
		return err
	}
	return typed(classic.Check(d.Definition))
}

// derivedProblems returns the problems of a derived classic form. Problems of the
// upstream name the field in the document.
func derivedProblems(def *doc.Node) []validation.Problem {
	problems := validation.Classic(def)
	for i, p := range problems {
		switch {
		case p.Field == "proxy.target_url":
			problems[i].Field = oas.ExtensionKey + ".upstream.url"
		case strings.HasPrefix(p.Field, "proxy.target_list."): // the list has each target as often as its weight says
			problems[i].Field = oas.ExtensionKey + ".upstream.loadBalancing.targets"
		}
	}
	return problems
}

// unserved reports whether a document has no settings for gateways yet: streams may be
// stored without the vendor extension.
func unserved(document *doc.Node) bool {
	return document.Get(oas.ExtensionKey) == nil && document.Get(streamsKey) != nil
}

// shelve completes the classic form of an API that is not served yet: it gets a name
// for lists, is inactive and has no listen path.
func shelve(d *apidef.Draft) error {
	d.Definition.Set("name", doc.NewString(d.Document.Get("info", "title").Text()))
	d.Definition.Set("active", doc.NewBool(false))
	return typed(classic.Check(d.Definition))
}
