package operation

import (
	"context"
	"math"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Paging is embedded in the input of a list (docs/wire/paging.md#pages).
type Paging struct {
	P string `query:"p" is:"integer" page:"0" doc:"Page number, from 1. 0 or less: all items."`
}

// page returns the requested page: 1 by default, 0 for all items.
func (p Paging) page() (int, error) {
	if p.P == "" {
		return 1, nil
	}
	n, neg := 0, false
	for i, c := range p.P {
		switch {
		case i == 0 && c == '-' && len(p.P) > 1:
			neg = true
		case c < '0' || c > '9':
			return 0, fault.New(fault.Invalid, CodeParameter, "query parameter p must be a whole number").At("p")
		default:
			n = min(n*10+int(c-'0'), 1<<30) // no list has so many pages
		}
	}
	if neg {
		return 0, nil
	}
	return n, nil
}

// AllItems is the end of a page that has all items.
const AllItems = math.MaxInt

// Bounds returns the range of items on the page, counted from 0: from is included, to is not.
func (p Paging) Bounds(size int) (from, to int, err error) {
	n, err := p.page()
	if err != nil || n == 0 {
		return 0, AllItems, err
	}
	return (n - 1) * size, n * size, nil
}

// Order is the order of a list, if it is not by ID ascending. The records are sorted by the
// values of a sorted index, only those with a prefix (see store.Query); without an index, by
// ID.
type Order struct {
	Index, Prefix string
	Desc          bool
}

// List returns the requested page of a kind's resources, sorted by ID or in the given order. A
// page out of range is empty. There is always at least one page. The last page costs no more
// than the first.
func List[T any](ctx context.Context, k *store.Kind[T], r store.Reader, p Paging, size int, order ...Order) (Page[T], error) {
	out := Page[T]{Items: []T{}, Pages: 1}
	n, err := p.page()
	if err != nil {
		return out, err
	}
	q := store.Query{}
	for _, o := range order {
		q.Index, q.Prefix, q.Desc, q.Sorted = o.Index, o.Prefix, o.Desc, o.Index != ""
	}
	if n > 0 {
		q.Offset, q.Limit = (n-1)*size, size
	}
	page, total, err := k.Page(ctx, r, q)
	if err != nil {
		return out, err
	}
	if n > 0 {
		out.Pages = max(1, (total+size-1)/size)
	}
	for _, v := range page {
		out.Items = append(out.Items, v.Value)
	}
	return out, nil
}
