package rows

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/files"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// images is the kind of the content of pictures. It is separate from products, so that
// lists of products need not read it.
var images = &store.Kind[product.Image]{
	Name: product.ImageKind, Noun: "image",
	ID:      product.Image.Key,
	Org:     func(i product.Image) tenant.ID { return i.Portal },
	Indexes: []store.Index[product.Image]{contents.Index(func(i product.Image) file.Place { return i.File })},
}

// Pictures reports whether a product has a file as its picture.
var Pictures = contents.Of(images)

// Images returns the registration of the kind of pictures' content.
func Images() crud.Registration {
	return crud.Facts[product.Image]{Kind: images, Sample: func(at crud.Stamp) (product.Image, error) {
		return product.Image{Product: portal.Sampled(product.Product{}, at).ID, Portal: at.Org, Which: product.Logo, Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}, nil
	}}.Registration()
}

// CodeImage is the fault code for a file that is not a picture.
const CodeImage = "portal_image.invalid"

// maxForm is by how many bytes the form may be larger than the picture in it.
const maxForm = 64 << 10

type upload struct {
	within
	Body operation.Attachment `body:""`
}

func (f family) imageRows() (rows []operation.Row) {
	refused := operation.Answers(map[string]operation.Answer{"invalid": {Status: 400}, "not_found": {Status: 400, Text: "record not found"}})
	ok := operation.Example(nil, portal.Status{Status: "ok"})
	for _, which := range []product.Picture{product.Logo, product.Preview} {
		at := "/{product_id}/" + string(which)
		rows = append(
			rows,
			operation.POST("upload-"+string(which), at, "Upload the "+string(which)+" of a product", f.upload(which), refused, operation.Example(map[string]any{"file": "(an image)"}, portal.Status{Status: "ok"}), operation.Limits(min(product.MaxImage+maxForm, f.maxUpload), 0), operation.Faulting(CodeImage, files.CodeAway),
				operation.Notes("The file is PNG, JPEG, GIF, WebP or SVG. It has 5 MiB at most, and no more than the setting MaxUploadSize. Its content determines the type, not its name. It replaces the previous picture.")),
			operation.GET("get-"+string(which), at, "Fetch the "+string(which)+" of a product", f.fetch(which), refused, operation.Example(nil, Picture{Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")})),
			operation.DELETE("delete-"+string(which), at, "Delete the "+string(which)+" of a product", f.erase(which), refused, ok),
		)
	}
	return rows
}

// Picture is a picture as answer.
type Picture product.Image

// Stream implements operation.Stream.
func (p Picture) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	return p.Type, "", [][]byte{p.Data}, nil
}

// MediaTypes implements operation.Varied.
func (Picture) MediaTypes() []string { return product.MediaTypes() }

// Header implements operation.Headed: an SVG file is a document, so it must neither run
// scripts nor load anything; and browsers must not guess another type.
func (Picture) Header() map[string]string {
	return map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox", "X-Content-Type-Options": "nosniff"}
}

// Schema describes the answer.
func (Picture) Schema() map[string]any { return map[string]any{"type": "string", "format": "binary"} }

func (f family) upload(which product.Picture) func(context.Context, upload) (portal.Status, error) {
	return func(ctx context.Context, in upload) (portal.Status, error) {
		mediaType, extension, err := product.Sniff(in.Body.Content)
		switch {
		case err != nil:
			return portal.Status{}, fault.New(fault.Invalid, CodeImage, "%s", err.Error())
		case len(in.Body.Content) > product.MaxImage:
			return portal.Status{}, fault.New(fault.TooLarge, CodeImage, "the image is too large: %d bytes at most", product.MaxImage)
		}
		if err := f.Store.View(ctx, in.Scope, func(r store.Reader) error { // checked first, so that a picture for an unknown product costs little
			_, err := of(ctx, r, in.within)
			return err
		}); err != nil {
			return portal.Status{}, err
		}
		kept, err := f.shelf.Keep(ctx, f.Tools, in.Scope, "products", extension, in.Body.Content)
		if err != nil {
			return portal.Status{}, err
		}
		return portal.Status{Status: "ok"}, f.update(ctx, in.within, func(ctx context.Context, w store.Writer, p product.Product, at crud.Stamp) (product.Product, error) {
			i := product.Image{Product: p.ID, Portal: at.Org, Which: which, Type: mediaType, Data: kept.Data, File: kept.Place}
			had := *p.File(which) != ""
			*p.File(which) = string(which) + "." + extension
			if !had {
				return p, images.Insert(ctx, w, i)
			}
			_, err := images.Edit(ctx, w, i.Key(), nil, func(product.Image) (product.Image, error) { return i, nil })
			return p, err
		})
	}
}

func (f family) fetch(which product.Picture) func(context.Context, within) (Picture, error) {
	return func(ctx context.Context, in within) (out Picture, err error) {
		data, err := f.shelf.Open(ctx, func() (file.Content, error) {
			err := f.Store.View(ctx, in.Scope, func(r store.Reader) error {
				p, err := of(ctx, r, in)
				if err != nil {
					return err
				}
				i, err := Image(ctx, r, p, which)
				out = Picture(i)
				return err
			})
			return file.Content{Place: out.File, Data: out.Data}, err
		})
		out.Data = data
		return out, err
	}
}

func (f family) erase(which product.Picture) func(context.Context, within) (portal.Status, error) {
	return func(ctx context.Context, in within) (portal.Status, error) {
		return portal.Status{Status: "ok"}, f.update(ctx, in, func(ctx context.Context, w store.Writer, p product.Product, _ crud.Stamp) (product.Product, error) {
			*p.File(which) = ""
			_, err := images.Delete(ctx, w, product.ImageKey(p.ID, which), nil)
			return p, err
		})
	}
}

// Image returns the content of a picture of a product, as it is stored.
func Image(ctx context.Context, r store.Reader, p product.Product, which product.Picture) (product.Image, error) {
	i, err := images.Get(ctx, r, product.ImageKey(p.ID, which))
	return i.Value, err
}
