package http

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/yaml"
)

// Media types of documents. YAML has several media types (docs/wire/requests.md#bodies).
const (
	yamlType = "application/x-yaml"
	formType = "multipart/form-data"
	fileType = "application/octet-stream" // for downloads (docs/wire/oas-apis.md#read-and-export)
)

// yamlTypes are the media types of YAML.
var yamlTypes = map[string]bool{yamlType: true, "application/yaml": true, "text/yaml": true, "text/x-yaml": true}

// graphTypes are the media types of descriptions that become data graphs, in JSON or YAML
// (docs/wire/data-graphs.md#import).
var graphTypes = map[string]bool{"application/vnd.tyk.udg.v2.openapi": true, "application/vnd.tyk.udg.v2.asyncapi": true}

// filePart is the name of the form part that contains the document.
const filePart = "file"

func (x *exchange) fromYAML(ctx context.Context, text []byte) error {
	x.call.Body = nil
	most := yaml.Limits{Bytes: int(x.row.maxBody), Values: x.row.maxValues}
	may, err := x.row.yaml.Weigh(text, most)
	if err != nil {
		return x.refuse(err)
	}
	if err := x.load.Work(ctx, int64(may.Bytes), int64(may.Values)); err != nil {
		return err
	}
	n, err := x.row.yaml.Parse(text, most)
	if err != nil {
		return x.refuse(err)
	}
	x.call.Body = n.JSON()
	return nil
}

// refuse returns the row's error for an invalid YAML text, unless the text is too large.
func (x *exchange) refuse(err error) error {
	if errors.Is(err, yaml.ErrLarge) {
		return fault.New(fault.TooLarge, codeTooLarge, "Request body %s", err.Error())
	}
	x.call.Upload.Err = err
	return nil
}

// zipMagic begins every ZIP file that is not empty.
var zipMagic = []byte("PK\x03\x04")

// fromForm reads the file from a form: JSON, YAML, or an archive.
func (x *exchange) fromForm(ctx context.Context, boundary string) error {
	text, err := formFile(x.call.Body, boundary)
	x.call.Body = nil
	switch {
	case err != nil:
		x.call.Upload.Err = err
	case bytes.HasPrefix(text, zipMagic):
		x.call.Upload.Archive = text
		return x.load.All(ctx) // its unpacked size is not known yet
	case doc.Check(text, 0) == nil:
		x.call.Body = text
		return x.admit(ctx, len(text), doc.Count(text))
	default:
		return x.fromYAML(ctx, text)
	}
	return nil
}

var (
	errForm   = errors.New("the form cannot be read")
	errNoFile = errors.New("the form has no part named " + filePart)
)

func formFile(body []byte, boundary string) ([]byte, error) {
	if boundary == "" {
		return nil, errForm
	}
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, errNoFile
		}
		if err != nil {
			return nil, errForm
		}
		if part.FormName() != filePart {
			continue
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return nil, errForm
		}
		return text, nil
	}
}

// prefersYAML reports whether a client prefers YAML to JSON. Of equal weights the first
// named wins.
func prefersYAML(accept []string) (yes bool) {
	best := 0.0
	for name, weight := range weighed(accept) {
		name = strings.ToLower(name)
		if weight > best && (yamlTypes[name] || name == jsonType) {
			best, yes = weight, name != jsonType
		}
	}
	return yes
}

// rendition prepares the answer for a document.
func (x *exchange) rendition(r operation.Rendition) error {
	x.tag, x.extra = r.Tag, r.Header
	asYAML := r.YAML || prefersYAML(x.http.Header["Accept"])
	if asYAML && r.Tag != "" {
		x.tag += operation.AsYAML // another representation has another strong tag (RFC 9110, 8.8.3.3)
	}
	if done, err := x.precondition(); done || err != nil {
		return err
	}
	x.status, x.mediaType, x.download, x.pieces = x.row.spec.Status, jsonType, r.Download, [][]byte{r.JSON}
	if asYAML {
		x.mediaType = yamlType
	}
	if r.Download != "" { // a file for the client to save
		x.mediaType = fileType
	}
	if !asYAML {
		return nil
	}
	if name, isJSON := strings.CutSuffix(r.Download, ".json"); isJSON {
		x.download = name + ".yaml"
	}
	ctx, cancel := context.WithTimeout(x.http.Context(), x.row.deadline)
	defer cancel()
	room := x.roomFor(ctx) // the operation's reservations have ended with it
	defer room.End()
	if err := room.Work(ctx, int64(len(r.JSON)), int64(doc.Count(r.JSON))); err != nil {
		return err
	}
	n, err := doc.ParseNode(r.JSON)
	if err != nil {
		return err
	}
	text, err := x.row.yaml.Format(n)
	x.pieces = [][]byte{text}
	return err
}

// plain restricts names of files and components to characters that every client
// understands.
func plain(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
		return r
	}
	return '_'
}
