package operation

import (
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Document is the body of a row that takes a whole document: as JSON or YAML, or as the file
// of a form. The content type says which. Transports convert YAML to JSON.
type Document struct {
	JSON json.RawMessage // nil when Archive is set
	// Archive is a ZIP file with the document and the files to which it refers.
	Archive []byte
	// Whole says that JSON is exactly what is to be stored, because rules have decided about it.
	Whole bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Document) UnmarshalJSON(text []byte) error {
	d.JSON = append(json.RawMessage(nil), text...)
	return nil
}

// Upload is a body that is not JSON, decoded by a transport: for rows that take a Document or
// an Attachment.
type Upload struct {
	Archive []byte // a ZIP file that came instead of a document
	Err     error  // why there is no document or file
	File    Attachment
}

// decodeDocument returns the Document of a call.
func decodeDocument(c *Call) (d Document, err error) {
	if s := c.whole(); s != nil {
		return Document{JSON: s.Body, Whole: true}, nil
	}
	switch {
	case c.Upload.Err != nil:
		return d, unparsed(c.Upload.Err)
	case c.Upload.Archive != nil:
		return Document{Archive: c.Upload.Archive}, nil
	case len(c.Body) == 0:
		return d, fault.New(fault.Invalid, CodeEmptyBody, "body is empty")
	}
	if err := doc.Check(c.Body, 0); err != nil {
		return d, unparsed(err)
	}
	return Document{JSON: c.Body}, nil
}

// Rendition is a response that is a whole document.
type Rendition struct {
	JSON     json.RawMessage
	Tag      string            // strong, without quotes; changes with every write; "" for none
	YAML     bool              // as YAML even if the client does not ask for it
	Download string            // file name under which the client is told to save it, with .json even if it is YAML; "": none
	Header   map[string]string // more headers, by canonical name
}

// EntityTag returns the tag.
func (r Rendition) EntityTag() string { return r.Tag }
