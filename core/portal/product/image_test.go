package product_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

func TestSniff(t *testing.T) {
	for data, want := range map[string]string{
		"\x89PNG\r\n\x1a\n…":           "image/png",
		"\xff\xd8\xff\xe0…":            "image/jpeg",
		"GIF87a…":                      "image/gif",
		"GIF89a":                       "image/gif",
		"RIFF\x01\x02\x03\x04WEBPVP8 ": "image/webp",
		"<svg/>":                       "image/svg+xml",
		"\ufeff <?xml version=\"1.0\"?>\n<!-- x --><!DOCTYPE svg>\n<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>": "image/svg+xml",
		"":                                 "",
		"RIFF\x01\x02\x03\x04WAVE":         "",
		"\x89PN":                           "",
		"<html><svg/></html>":              "",
		"x<svg/>":                          "",
		"<?xml?> x <svg/>":                 "",
		"<!DOCTYPE html>":                  "",
		"<svg":                             "",
		"MZ\x90":                           "",
		strings.Repeat("<!-- x -->", 1000): "",
	} {
		got, extension, err := product.Sniff([]byte(data))
		if got != want || (err == nil) != (want != "") || (extension == "") != (want == "") {
			t.Errorf("%q: %q, %q, %v", data, got, extension, err)
		}
	}
}

func TestAddress(t *testing.T) {
	p := product.Product{Base: table.Base{ID: 2}}
	if p.Address(product.Logo) != "" || p.Address(product.Preview) != "" {
		t.Error("an address of nothing")
	}
	*p.File(product.Logo) = "logo.gif"
	if got := p.Address(product.Preview); got != "/system/products/2/logo/logo.gif" || p.Address(product.Logo) != got {
		t.Error(got)
	}
	*p.File(product.Logo) = ""
	*p.File(product.Preview) = "preview.png"
	if got := p.Address(product.Preview); got != "/system/products/2/preview/preview.png" || p.Address(product.Logo) != "" {
		t.Error(got)
	}
}

// FuzzSniff: Sniff works for any file, and its result is complete.
func FuzzSniff(f *testing.F) {
	f.Add([]byte("<!-- x --><svg/>"))
	f.Add([]byte("RIFF\x01\x02\x03\x04WEBP"))
	f.Fuzz(func(t *testing.T, data []byte) {
		mediaType, extension, err := product.Sniff(data)
		if (err == nil) != strings.HasPrefix(mediaType, "image/") || (err == nil) != (extension != "") {
			t.Error(mediaType, extension, err)
		}
	})
}

// TestMediaTypes: each media type that a picture can have is listed, and only one of them is a
// document.
func TestMediaTypes(t *testing.T) {
	types := product.MediaTypes()
	documents := 0
	for name, data := range map[string]string{"png": "\x89PNG\r\n\x1a\n", "jpg": "\xff\xd8\xff", "gif": "GIF89a", "webp": "RIFF\x01\x02\x03\x04WEBP", "svg": "<svg/>"} {
		is, extension, err := product.Sniff([]byte(data))
		if err != nil || extension != name || !slices.Contains(types, is) {
			t.Errorf("%s: %s %s, %v", name, is, extension, err)
		}
		if (product.Image{Type: is}).Document() {
			documents++
		}
	}
	if documents != 1 {
		t.Errorf("%d types are documents", documents)
	}
	if i := (product.Image{Product: 3, Which: "logo"}); i.Key() != product.ImageKey(3, "logo") || i.Key() == product.ImageKey(3, "preview") {
		t.Error(i.Key())
	}
}
