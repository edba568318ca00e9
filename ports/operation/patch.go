package operation

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Media types of patches. JSON with another media type is a merge patch.
const (
	MergePatch = "application/merge-patch+json" // RFC 7386
	JSONPatch  = "application/json-patch+json"  // RFC 6902
)

// Patch is the body of a row that changes a document and accepts both kinds of patches. The
// content type says which kind it is.
type Patch struct {
	text  []byte
	steps bool // a JSON patch
	whole bool // text is the patched document, because rules have decided about it
}

// Codes of the faults that applying a patch makes.
const (
	CodePatch     = "patch.invalid"  // it cannot be applied to this document
	CodePatchTest = "patch.conflict" // one of its own tests does not hold
)

// maxDepth bounds the nesting of a patched document: as deep as a body may be.
const maxDepth = 128

// decodePatch returns the Patch of a call.
func decodePatch(c *Call) (Patch, error) {
	if s := c.whole(); s != nil {
		return Patch{text: s.Body, whole: true}, nil
	}
	if len(bytes.TrimSpace(c.Body)) == 0 {
		return Patch{}, fault.New(fault.Invalid, CodeEmptyBody, "body is empty")
	}
	if err := doc.Check(c.Body, 0); err != nil {
		return Patch{}, malformed(err.Error(), "")
	}
	mediaType, _, _ := mime.ParseMediaType(c.Header["Content-Type"]) // an invalid media type means JSON, as everywhere
	p := Patch{text: c.Body, steps: mediaType == JSONPatch}
	first := bytes.TrimSpace(c.Body)[0]
	switch {
	case p.steps && first != '[':
		return p, malformed("a JSON patch is an array of operations", "")
	case !p.steps && first != '{':
		return p, malformed("a merge patch is an object; a JSON patch is sent as "+JSONPatch, "")
	}
	return p, nil
}

// IsZero reports whether there is no patch.
func (p Patch) IsZero() bool { return p.text == nil }

// Apply returns the patched document, which is an object again, or a fault with the problem.
// It applies all of the patch or nothing. Members that the patch does not touch keep their
// place and spelling.
func (p Patch) Apply(document []byte) ([]byte, error) {
	var out []byte
	switch {
	case p.whole:
		out = p.text
	case p.steps:
		n, err := doc.ParseNode(document)
		if err != nil {
			return nil, fmt.Errorf("operation: JSON patch: %w", err)
		}
		if n, err = doc.ApplyPatch(n, p.text); err != nil {
			return nil, refused(err)
		}
		out = n.JSON()
	default:
		var err error
		if out, err = doc.Merge(document, p.text); err != nil {
			return nil, fmt.Errorf("operation: merge patch: %w", err)
		}
	}
	if !doc.IsObject(out) {
		return nil, fault.New(fault.Invalid, CodePatch, "the patched document is no object")
	}
	if doc.Check(out, maxDepth) != nil {
		return nil, fault.New(fault.Invalid, CodePatch, "the patched document nests deeper than %d levels", maxDepth)
	}
	return out, nil
}

// refused makes a fault from an error of a JSON patch.
func refused(err error) error {
	field := ""
	if e, ok := errors.AsType[*doc.PatchError](err); ok {
		field = strings.TrimPrefix(e.Path, "/")
	}
	switch {
	case errors.Is(err, doc.ErrTest):
		return fault.New(fault.Conflict, CodePatchTest, "%s", err).At(field)
	case errors.Is(err, doc.ErrPatch):
		return fault.New(fault.Invalid, CodePatch, "%s", err).At(field)
	}
	return malformed(err.Error(), "")
}
