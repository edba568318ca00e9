package apis

import (
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

// variants says how the documents of a class are checked.
var variants = map[apidef.Class]openapi.Variant{apidef.OAS: openapi.OAS, apidef.Streams: openapi.Streams, apidef.MCP: openapi.MCP}

// check refuses a document that does not have the form of its class. unknown
// lets members of the extension pass that nobody knows.
func (l *Library) check(document *doc.Node, class apidef.Class, unknown bool) error {
	if err := l.streamable(document); err != nil {
		return err
	}
	if err := refused(l.validate(document, class, unknown)); err != nil {
		return err
	}
	return typed(feed.Document(document)) // what feeds would leave out is not stored
}

// validate says what is wrong with the form of a document of a class. Streams obey
// their own rules wherever they stand.
func (l *Library) validate(document *doc.Node, class apidef.Class, unknown bool) []validation.Problem {
	if class == apidef.OAS && document.Get(streamsKey) != nil {
		class = apidef.Streams
	}
	return l.Validator.Validate(document.JSON(), openapi.Options{
		Variant: variants[class], AllowUnknown: unknown, Examples: l.Settings.Examples, Defaults: l.Settings.Defaults, AllStreams: l.Settings.AllStreams,
	})
}

// normalise brings a document into the form that is stored.
func (l *Library) normalise(document *doc.Node) {
	if ext := document.Get(oas.ExtensionKey); l.Settings.ForceDefaults && ext.Is(doc.TypeObject) {
		ext.Put(doc.NewBool(true), "server", "listenPath", "strip")
	}
	oas.Normalise(document)
}

// refused turns what is wrong with a document into one fault.
func refused(problems []validation.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	p := problems[0]
	if p.Message == validation.ListenPathText {
		return fault.New(fault.Invalid, codeInvalid, validation.ListenPathText).At(p.Field)
	}
	reason := p.Message
	if p.Field != "" {
		reason = p.Field + ": " + reason
	}
	return schemaFault(p.Field, reason)
}

// convert makes the classic form that gateways execute out of the document of a
// draft, over the stored one, and puts the addresses of gateways into the
// document. k says whose version the API is.
func (l *Library) convert(d *apidef.Draft, stored *doc.Node, k link) error {
	document := d.Document
	l.normalise(document)
	d.Definition = oas.Extract(document, oas.Remains(stored), oas.Options{MCP: d.Class == apidef.MCP})
	d.Definition.Set("is_oas", doc.NewBool(true))
	if unserved(document) {
		return l.shelve(d)
	}
	if stored.Get("proxy", "listen_path").Text() == "" {
		stored = nil // it had no addresses
	}
	if err := servers.Merge(document, servers.Input{
		New: d.Definition, Old: stored, Base: k.base, OldBase: k.oldBase, VersionName: k.name, Config: l.Hosts,
	}); err != nil {
		return err
	}
	if err := refused(derivedProblems(d.Definition)); err != nil {
		return err
	}
	return typed(classic.Check(d.Definition))
}

// derivedProblems is what is wrong with the classic form of a document. The upstream is
// named as the document has it.
func derivedProblems(def *doc.Node) []validation.Problem {
	problems := validation.Classic(def)
	for i, p := range problems {
		if p.Field == "proxy.target_url" {
			problems[i].Field = oas.ExtensionKey + ".upstream.url"
		}
	}
	return problems
}

// unserved reports whether a document says nothing to gateways yet: streams may
// come without the other extension (contract dashboard.md 12).
func unserved(document *doc.Node) bool {
	return document.Get(oas.ExtensionKey) == nil && document.Get(streamsKey) != nil
}

// shelve completes the classic form of an API that is not served yet: it has a
// name to be listed by, is switched off and listens nowhere.
func (l *Library) shelve(d *apidef.Draft) error {
	d.Definition.Set("name", doc.NewString(d.Document.Get("info", "title").Text()))
	d.Definition.Set("active", doc.NewBool(false))
	return typed(classic.Check(d.Definition))
}
