package product

import (
	"bytes"
	"encoding/xml"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Picture names one of the pictures of a product.
type Picture string

// The pictures of a product.
const (
	Logo    Picture = "logo"    // on its page
	Preview Picture = "preview" // on its card
)

// File points to the name of a picture's file, which is "" when there is none.
func (p *Product) File(which Picture) *string {
	if which == Logo {
		return &p.Logo
	}
	return &p.Preview
}

// Address returns where browsers find a picture, or "". Without a preview they find the
// logo in its place.
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

// ImageKind is the name in storage of the content of pictures.
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

// Key is the name of a picture's content in storage.
func (i Image) Key() string { return ImageKey(i.Product, i.Which) }

// ImageKey is the name in storage of the content of a product's picture.
func ImageKey(of table.ID, which Picture) string { return of.Key() + "-" + string(which) }

// MaxImage is how many bytes a picture has at most.
const MaxImage = 5 << 20

// ErrImage says that a file is no picture, and what to send.
var ErrImage = errors.New("the file is no image: send a PNG, JPEG, GIF, WebP or SVG file")

// svg is the media type of pictures that are documents.
const svg = "image/svg+xml"

// magic is how pictures begin. The bytes at a '?' may be anything.
var magic = []struct{ pattern, mediaType, extension string }{
	{"\x89PNG\r\n\x1a\n", "image/png", "png"},
	{"\xff\xd8\xff", "image/jpeg", "jpg"},
	{"GIF87a", "image/gif", "gif"},
	{"GIF89a", "image/gif", "gif"},
	{"RIFF????WEBP", "image/webp", "webp"},
}

// Sniff returns what kind of picture a file is, whatever it is called, and how such files
// are called.
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

// MediaTypes returns those that pictures have.
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

// Document reports whether a picture is a document, which browsers that open it by itself
// would carry out.
func (i Image) Document() bool { return i.Type == svg }

// isSVG reports whether a file is an XML document whose outermost element is svg. No more
// of it is read: browsers do so, under a policy that lets it do nothing.
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
