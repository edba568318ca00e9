package product

import (
	"bytes"
	"encoding/xml"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Picture is one of the pictures of a product.
type Picture string

// The pictures of a product.
const (
	Logo    Picture = "logo"    // on its page
	Preview Picture = "preview" // on its card
)

// File returns a pointer to the name of a picture's file, which is "" when there is none.
func (p *Product) File(which Picture) *string {
	if which == Logo {
		return &p.Logo
	}
	return &p.Preview
}

// Address returns the URL of a picture for browsers, or "". Without a preview it is the URL of
// the logo.
func (p Product) Address(which Picture) string {
	file := *p.File(which)
	if file == "" && which == Preview {
		return p.Address(Logo)
	}
	if file == "" {
		return ""
	}
	return "/system/products/" + p.ID.String() + "/" + string(which) + "/" + file
}

// ImageKind is the name of picture contents in storage.
const ImageKind = "portal-product-image"

// Image is the content of a picture.
type Image struct {
	Product table.ID
	Portal  tenant.ID
	Which   Picture
	Type    string     // media type
	Data    []byte     // nil: it is at File
	File    file.Place `json:",omitzero"`
}

// Key returns the ID of a picture's content in storage.
func (i Image) Key() string { return ImageKey(i.Product, i.Which) }

// ImageKey returns the ID of the content of a product's picture in storage.
func ImageKey(of table.ID, which Picture) string { return of.Key() + "-" + string(which) }

// MaxImage is the maximum size of a picture in bytes.
const MaxImage = 5 << 20

// ErrImage says that a file is not a picture, and what to send.
var ErrImage = errors.New("the file is no image: send a PNG, JPEG, GIF, WebP or SVG file")

// svg is the media type of pictures that are XML documents.
const svg = "image/svg+xml"

// magic is the signatures of picture formats. The bytes at a '?' may be anything.
var magic = []struct{ pattern, mediaType, extension string }{
	{"\x89PNG\r\n\x1a\n", "image/png", "png"},
	{"\xff\xd8\xff", "image/jpeg", "jpg"},
	{"GIF87a", "image/gif", "gif"},
	{"GIF89a", "image/gif", "gif"},
	{"RIFF????WEBP", "image/webp", "webp"},
}

// Sniff returns the media type of a picture, detected from its content, and the usual file
// extension.
func Sniff(data []byte) (mediaType, extension string, err error) {
	for _, m := range magic {
		if begins(data, m.pattern) {
			return m.mediaType, m.extension, nil
		}
	}
	if isSVG(data) {
		return svg, "svg", nil
	}
	return "", "", ErrImage
}

// MediaTypes returns the media types of pictures.
func MediaTypes() []string {
	out := []string{svg}
	for _, m := range magic {
		out = append(out, m.mediaType)
	}
	return out
}

func begins(data []byte, pattern string) bool {
	if len(data) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] != '?' && pattern[i] != data[i] {
			return false
		}
	}
	return true
}

// Document reports whether a picture is a document, which browsers may execute when they open
// it directly.
func (i Image) Document() bool { return i.Type == svg }

// isSVG reports whether a file is an XML document with the root element svg. The rest is not
// parsed: browsers do so, under a policy that allows no scripts.
func isSVG(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("<")) {
		return false
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.RawToken()
		if err != nil {
			return false
		}
		switch token := token.(type) {
		case xml.StartElement:
			return token.Name.Local == "svg"
		case xml.CharData:
			if len(bytes.TrimSpace(token)) > 0 {
				return false
			}
		}
	}
}
