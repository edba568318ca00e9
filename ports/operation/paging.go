package operation

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Paging is embedded in the input of a list (contract dashboard.md 2.4).
type Paging struct {
	P string `query:"p" doc:"Page, counted from 1. 0 and less return all items."`
}

// page returns the page asked for: 1 when nothing is, 0 for everything.
func (p Paging) page() (int, error) {
	if p.P == "" {
		return 1, nil
	}
	n, neg := 0, false
	for i, c := range p.P {
		switch {
		case i == 0 && c == '-' && len(p.P) > 1:
			neg = true
		case c < '0' || c > '9' || n > 1<<30:
			return 0, fault.New(fault.Invalid, CodeParameter, "query parameter p must be a whole number").At("p")
		default:
			n = n*10 + int(c-'0')
		}
	}
	if neg {
		return 0, nil
	}
	return n, nil
}

// List returns the page of a kind's resources that was asked for. A page out of
// range is empty; there is always at least one page.
func List[T any](ctx context.Context, k *store.Kind[T], r store.Reader, p Paging, size int) (Page[T], error) {
	out := Page[T]{Items: []T{}, Pages: 1}
	n, err := p.page()
	if err != nil {
		return out, err
	}
	q := store.Query{Kind: k.Name}
	if n > 0 {
		total, err := r.Count(ctx, q)
		if err != nil {
			return out, err
		}
		out.Pages = max(1, (total+size-1)/size)
		q.Offset, q.Limit = (n-1)*size, size
	}
	for v, err := range k.Find(ctx, r, q) {
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, v.Value)
	}
	return out, nil
}
