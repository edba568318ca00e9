package showcase

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/products/rows"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type pictureIn struct {
	visitor
	Product string `path:"product_id" doc:"Number or CID of the product."`
	Which   string `path:"picture" doc:"logo or preview."`
	File    string `path:"file" doc:"Name of the file in the product."`
}

// shown is a picture as answer: its bytes, or a redirect to the storage.
type shown struct {
	rows.Picture
	at string
}

// At implements operation.Elsewhere.
func (s shown) At() string { return s.at }

// picture returns a picture that the visitor may see. A document such as SVG is always
// served from here, with a policy that keeps it from running scripts
// (docs/wire/portal-content.md#files).
func (s *Service) picture(ctx context.Context, in pictureIn) (out shown, err error) {
	which := product.Picture(in.Which)
	find := func() (file.Content, error) {
		err := s.look(ctx, in.visitor, func(r store.Reader, now sight) error {
			p, err := portal.Find(ctx, r, products.Kind, in.Product)
			if err != nil {
				return err
			}
			if which != product.Logo && which != product.Preview || *p.File(which) != in.File || !now.sees(p) {
				return products.Kind.Absent()
			}
			i, err := rows.Image(ctx, r, p, which)
			out.Picture = rows.Picture(i)
			return err
		})
		return file.Content{Place: out.File, Data: out.Data}, err
	}
	if s.Shelf.Origin() != "" {
		c, err := find()
		if err != nil {
			return out, err
		}
		if !product.Image(out.Picture).Document() {
			out.at = s.Shelf.Link(ctx, c, out.Type)
		}
		if out.at != "" {
			return out, nil
		}
	}
	out.Data, err = s.Shelf.Open(ctx, find)
	return out, err
}
