// Package forms handles the two forms of an API: it checks the classic definition and
// the document, and derives the former from the latter.
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
	// Hosts has the addresses of gateways, for the addresses in documents.
	Hosts servers.Config
	Room  doc.Room // bounds an API, so that a request body can hold it
}

// Codes of faults.
const (
	CodeExtension  = "oas.extension" // a document lacks a member that its class needs
	CodeStreamsOff = "streams.off"   // a write while streams are switched off
)

// streamsKey is the member of a document with its streams.
const streamsKey = "x-tyk-streaming"

// Streamable refuses documents with streams while the feature is off, in every class,
// because gateways run the streams of every document that has some.
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

// AnyID is the database ID of a draft until the real one is known.
var AnyID = strings.Repeat("0", 24)

// Identify writes the IDs that the server sets into a document. An ID of a wrong type
// is kept, and refused with the document.
func Identify(d apidef.Draft) {
	own(d.Document, "id", d.APIID)
	own(d.Document, "dbId", d.ID)
	IdentifyOrg(d)
}

// IdentifyOrg writes the ID of the organisation into a document, the only ID that is
// known before the document is stored.
func IdentifyOrg(d apidef.Draft) { own(d.Document, "orgId", string(d.OrgID)) }

// own writes an ID into the info section of a document's extension.
func own(document *doc.Node, name, id string) {
	info := document.Get(oas.ExtensionKey, "info")
	if info.Is(doc.TypeObject) && info.Get(name).Is(doc.Absent, doc.TypeString) {
		info.Set(name, doc.NewString(id))
	}
}

// maxAPIID is the maximum length of an API ID in characters.
const maxAPIID = 256

// CheckAPIID refuses IDs that could not be used in a path.
func CheckAPIID(id string) error {
	if !label.InPath(id, maxAPIID) {
		return fault.New(fault.Invalid, apis.CodeInvalid, "invalid api_id: it must be 1 to %d characters without slashes and control characters", maxAPIID).At("api_id")
	}
	return nil
}

// Writable refuses a document that is too large for a request body, which an import or
// a patch may produce. It accepts a document that does not get larger than before.
func (f *Forms) Writable(document, before *doc.Node) error {
	return unwritable(f.Room.Lack(document.Values(), document.Size(), func() (int, int) { return before.Values(), before.Size() }))
}

// WritableText is Writable for encoded documents.
func (f *Forms) WritableText(text, before []byte) error {
	return unwritable(f.Room.LackText(text, func() []byte { return before }))
}

func unwritable(why string) error {
	if why == "" {
		return nil
	}
	return fault.New(fault.TooLarge, apis.CodeLarge, "The API would be too large to be sent back: %s", why)
}

// Misformed returns the fault for a body of the wrong form, with the field and the
// reason.
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

// typed turns type errors into one fault that lists all of them.
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
