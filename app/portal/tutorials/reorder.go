package tutorials

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/tutorial"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// wanted is the body with a new order: numbers or CIDs of tutorials; numbers may be
// texts.
type wanted []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *wanted) UnmarshalJSON(text []byte) error {
	var raw []any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&raw) != nil || len(raw) > table.MaxList {
		return fault.New(fault.Invalid, tutorial.CodeOrder, "an array of the tutorials of the product is wanted, %d at most", table.MaxList)
	}
	for _, v := range raw {
		name, ok := table.Text(v)
		if !ok {
			return fault.New(fault.Invalid, tutorial.CodeOrder, "an array of numbers is wanted")
		}
		*w = append(*w, name)
	}
	return nil
}

// Schema describes the body.
func (wanted) Schema() map[string]any {
	return map[string]any{"type": "array", "items": map[string]any{"type": "integer"}, "description": "All tutorials of the product, in the new order."}
}

type order struct {
	Scope   tenant.Scope
	Product string `path:"^"`
	Body    wanted `body:""`
}

// reorder is the row that changes the order of a product's tutorials.
func reorder(o operations) operation.Row {
	return operation.POST("reorder", "/reorder", "Reorder the tutorials of a product", func(ctx context.Context, in order) (portal.Status, error) {
		_, err := o.Store.Update(ctx, in.Scope, func(w store.Writer) error {
			product, found, err := portal.Resolver(ctx, w)(tutorial.ProductKind, in.Product)
			if err != nil {
				return err
			}
			if !found {
				return kind.Absent()
			}
			// The numbers of the tutorials in the body.
			want := make([]table.ID, 0, len(in.Body))
			for _, name := range in.Body {
				id, found := table.ParseID(name)
				if !found {
					t, err := portal.Find(ctx, w, kind, name)
					if fault.KindOf(err) == fault.NotFound {
						return fault.New(fault.Invalid, tutorial.CodeOrder, "tutorial %q is none of this product", name)
					}
					if err != nil {
						return err
					}
					id = t.ID
				}
				want = append(want, id)
			}
			return arrange(ctx, w, product, func(o tutorial.Order) (tutorial.Order, error) { return o.Rearrange(want) })
		})
		return portal.Status{Status: "ok"}, err
	}, operation.Above("product_id", "Number or CID of the product."), operation.Faulting(tutorial.CodeOrder),
		operation.Answers(map[string]operation.Answer{"invalid": {Status: 400}, "not_found": {Status: 400, Text: "record not found"}}),
		operation.Example([]int{2, 1, 3}, portal.Status{Status: "ok"}))
}
