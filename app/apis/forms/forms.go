// Package forms sees to the two forms of an API: it checks the classic definition
// and the document, and makes the former out of the latter.
package forms

import (
	"errors"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/ports/openapi"
)

// Forms checks and converts APIs.
type Forms struct {
	Settings  apis.Settings
	Validator openapi.Validator
	// Hosts says where gateways are, for the addresses in documents.
	Hosts servers.Config
	// MaxBytes and MaxValues are what a body may have; 0: there is no limit.
	MaxBytes, MaxValues int
}

// Codes of faults.
const (
	CodeExtension  = "oas.extension" // a document lacks what its class needs
	CodeStreamsOff = "streams.off"   // a write while streams are switched off
)

// streamsKey is the member of a document that holds its streams.
const streamsKey = "x-tyk-streaming"

// Streamable refuses documents with streams while the feature is off, in every
// class: gateways run the streams of any document that has some.
func (f *Forms) Streamable(document *doc.Node) error {
	if document.Get(streamsKey) == nil {
		return nil
	}
	return f.StreamsOn()
}

// StreamsOn refuses writes of streams APIs while the feature is off.
func (f *Forms) StreamsOn() error {
	if f.Settings.Streams {
		return nil
	}
	return fault.New(fault.Denied, CodeStreamsOff, "Streams APIs are switched off: set streaming.enabled to store them")
}

// AnyID stands for the database ID of a draft until it is known.
var AnyID = strings.Repeat("0", 24)

// Identify writes the identifiers that the server owns into a document. One of a wrong type
// stays, and is refused with the document.
func Identify(d apidef.Draft) {
	own(d.Document, "id", d.APIID)
	own(d.Document, "dbId", d.ID)
	IdentifyOrg(d)
}

// IdentifyOrg writes into a document the one identifier that is known before it is stored: its
// organisation's.
func IdentifyOrg(d apidef.Draft) { own(d.Document, "orgId", string(d.OrgID)) }

// own writes an identifier into the info of a document's extension.
func own(document *doc.Node, name, id string) {
	info := document.Get(oas.ExtensionKey, "info")
	if info.Is(doc.TypeObject) && info.Get(name).Is(doc.Absent, doc.TypeString) {
		info.Set(name, doc.NewString(id))
	}
}

// maxAPIID is the length limit of an API ID in characters.
const maxAPIID = 256

// CheckAPIID refuses identifiers that could not be addressed in a path.
func CheckAPIID(id string) error {
	if !label.InPath(id, maxAPIID) {
		return fault.New(fault.Invalid, apis.CodeInvalid, "invalid api_id: it must be 1 to %d characters without slashes and control characters", maxAPIID).At("api_id")
	}
	return nil
}

// Writable refuses a document that could not be sent back as a body: what an import or a patch
// makes may be larger than what it was sent. One that was as large before may stay.
func (f *Forms) Writable(document, before *doc.Node) error {
	return f.fits(document.Values(), document.Size(), func() (int, int) { return before.Values(), before.Size() })
}

// WritableText is Writable for texts.
func (f *Forms) WritableText(text, before []byte) error {
	return f.fits(doc.Count(text), len(text), func() (int, int) { return doc.Count(before), len(before) })
}

func (f *Forms) fits(values, size int, before func() (values, size int)) error {
	many, large := f.MaxValues > 0 && values > f.MaxValues, f.MaxBytes > 0 && size > f.MaxBytes
	if !many && !large {
		return nil
	}
	switch oldValues, oldSize := before(); {
	case many && values > oldValues:
		return fault.New(fault.TooLarge, apis.CodeLarge, "The API would be too large to be sent back: it would hold more than %d values", f.MaxValues)
	case large && size > oldSize:
		return fault.New(fault.TooLarge, apis.CodeLarge, "The API would be too large to be sent back: it would have more than %d bytes", f.MaxBytes)
	}
	return nil
}

// Misformed is the fault of a body of the wrong form, with the place and the reason.
func Misformed(field, reason string) error {
	return fault.New(fault.Invalid, apis.CodeInvalid, "Error while validating schema. %s", reason).At(field)
}

// refused turns the first problem into a fault.
func refused(problems []validation.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	p := problems[0]
	if p.Message == validation.ListenPathText {
		return fault.New(fault.Invalid, apis.CodeInvalid, validation.ListenPathText).At(p.Field)
	}
	return Misformed(p.Field, p.String())
}

// typed turns type errors into one fault that names all of them.
func typed(problems []shape.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	texts := make([]string, 0, len(problems))
	for _, p := range problems {
		texts = append(texts, p.String())
	}
	return Misformed(problems[0].Path, strings.Join(texts, "; "))
}

// ProblemsOf turns a fault into a problem.
func ProblemsOf(err error) []validation.Problem {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return []validation.Problem{{Field: f.Field, Message: f.Message}}
	}
	return []validation.Problem{{Message: err.Error()}}
}
