package portal

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// DefaultPerPage is the default page size of lists.
const DefaultPerPage = 20

// Page has the parameters of lists. A number that cannot be parsed counts as missing.
type Page struct {
	Number  string `query:"page" page:"-1" doc:"Page number, from 1. -1 or less: all items."`
	PerPage string `query:"per_page" page:"size" doc:"Records on a page. Default: 20."`
	Limit   string `query:"limit" doc:"Maximum number of records in this response. per_page still determines where the page begins."`
	OrderBy string `query:"order_by" doc:"Field to sort by. The suffix _desc means descending."`
	Sort    string `query:"sort" doc:"Same as order_by."`
	Keyword string `query:"keyword" doc:"Only records with this text in one of their text fields."`
}

// window is the range of a list that an answer contains.
type window struct{ page, size, from, to int }

// most bounds page numbers and sizes, so that their product does not overflow.
const most = 1 << 30

func (p Page) window(size int) window {
	number := func(text string, otherwise int) int {
		n, err := strconv.Atoi(strings.TrimSpace(text)) // on overflow n is the largest int
		if err != nil && !errors.Is(err, strconv.ErrRange) || n == 0 {
			return otherwise
		}
		return min(n, most)
	}
	w := window{page: number(p.Number, 1), size: number(p.PerPage, size)}
	if w.size < 0 {
		w.size = size
	}
	if w.page < 0 {
		return window{size: w.size, to: operation.AllItems}
	}
	limit := number(p.Limit, w.size)
	if limit < 0 {
		limit = w.size
	}
	w.from = (w.page - 1) * w.size
	w.to = w.from + limit
	return w
}

// Cut returns the requested page of a list; it ignores the parameters for order and
// keyword. part returns a range of the list, and its total length.
func Cut[L any](p Page, part func(from, to int) ([]L, int, error)) (out operation.Listing[L], err error) {
	w := p.window(DefaultPerPage)
	out.Page, out.PerPage = w.page, w.size
	out.Items, out.Total, err = part(w.from, w.to)
	return out, err
}

// order returns the member to sort by, and whether descending.
func (p Page) order(otherwise string) (name string, desc bool) {
	for _, text := range []string{p.OrderBy, p.Sort, otherwise} {
		if name, desc = strings.CutSuffix(text, "_desc"); name != "" {
			return name, desc
		}
	}
	return "", false
}

// listed is the input of a list.
type listed struct {
	place
	Page `params:""`
}

// ListRow lists records.
func (o Operations[T, L, S]) ListRow(opts ...operation.Option) operation.Row {
	t, keys := tableOf[T](), []operation.SortKey{}
	texts := o.kept(t.Texts())
	if o.Search != nil { // Search decides what is searched
		texts = nil
	}
	for _, name := range o.kept(t.Ordered()) {
		keys = append(keys, operation.SortKey{Value: name, Member: name})
	}
	for _, l := range o.Labels {
		texts, keys = append(texts, l.Name), append(keys, operation.SortKey{Value: l.Name, Member: l.Name})
	}
	item := operation.Item{Kind: t.Kind, ID: "ID", Name: t.Label()}
	for _, f := range t.Fields {
		if f.Target != "" {
			item.Links = append(item.Links, operation.Link{Where: f.Name, Kind: f.Target})
		}
	}
	return operation.GET("list", "", "List "+o.Many, o.Page, o.options(opts, operation.Lists(item),
		operation.Narrows("keyword", operation.Part, texts...), operation.Sorts("order_by", "", "_desc", keys...),
		operation.Example(nil, operation.Listing[L]{Items: []L{example(o.Sample, o.List)}, Total: 1, Page: 1, PerPage: DefaultPerPage}))...)
}

// kept returns the names without members that are not stored as they are, such as secrets:
// searching or sorting their stored form would be meaningless.
func (o Operations[T, L, S]) kept(names []string) []string {
	before, after := o.Sample, *new(T)
	text, err := json.Marshal(before)
	if err != nil || json.Unmarshal(text, &after) != nil {
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool {
		at, known := tableOf[T]().Member(name)
		return !known || table.Compare(at(&before), at(&after)) != 0
	})
}

// Page returns the requested page of a list.
func (o Operations[T, L, S]) Page(ctx context.Context, in listed) (out operation.Listing[L], err error) {
	err = o.Store.View(ctx, in.Scope, func(r store.Reader) (err error) {
		var above table.ID // 0: the list has the records of all parents
		if o.Above == nil || o.Above.All == "" || in.Above != o.Above.All {
			if above, err = o.parent(ctx, r, in.place); err != nil {
				return err
			}
		}
		out, err = o.Part(ctx, r, above, in.Page)
		return err
	})
	return out, err
}

// Part returns a page of the list of the records below one, or of all.
func (o Operations[T, L, S]) Part(ctx context.Context, r store.Reader, above table.ID, p Page) (out operation.Listing[L], err error) {
	size := o.PerPage
	if size == 0 {
		size = DefaultPerPage
	}
	w := p.window(size)
	name, desc := p.order(o.Order)
	member, known := tableOf[T]().Member(name)
	label := slices.IndexFunc(o.Labels, func(l Label[L]) bool { return table.SameName(l.Name, name) })
	keyword := strings.ToLower(strings.TrimSpace(p.Keyword))
	var page []T
	switch {
	case label >= 0:
		page, out.Total, err = o.labelled(ctx, r, above, w, keyword, o.Labels[label], desc)
	case o.Sequence != nil && !known:
		page, out.Total, err = o.sequenced(ctx, r, above, w, keyword)
	case keyword == "" && !known && (o.Above == nil || above != 0):
		page, out.Total, err = o.newest(ctx, r, above, w)
	default:
		page, out.Total, err = o.selected(ctx, r, above, w, keyword, ordered(member, desc))
	}
	if err != nil {
		return out, err
	}
	out.Items, out.Page, out.PerPage = make([]L, 0, len(page)), w.page, w.size
	for _, v := range page {
		shown, err := o.List(ctx, r, v)
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, shown)
	}
	return out, nil
}

// ordered returns a comparison by a member, or by age alone: newer ones first.
func ordered[T table.Row[T]](member func(*T) any, desc bool) func(a, b T) int {
	return func(a, b T) int {
		c := 0
		if member != nil {
			c = table.Compare(member(&a), member(&b))
		}
		if desc {
			c = -c
		}
		if c == 0 {
			t := tableOf[T]()
			c = table.Compare(&t.Base(&b).ID, &t.Base(&a).ID)
		}
		return c
	}
}

// Excerpt returns the requested page of a list in memory.
func Excerpt[T table.Row[T], L any](all []T, p Page, show func(T) L) operation.Listing[L] {
	t, w := tableOf[T](), p.window(DefaultPerPage)
	name, desc := p.order("")
	member, _ := t.Member(name)
	if keyword := strings.ToLower(strings.TrimSpace(p.Keyword)); keyword != "" {
		all = slices.DeleteFunc(all, func(v T) bool { return !t.Matches(&v, keyword) })
	}
	slices.SortFunc(all, ordered(member, desc))
	out := operation.Listing[L]{Items: []L{}, Total: len(all), Page: w.page, PerPage: w.size}
	for _, v := range all[min(w.from, len(all)):min(w.to, len(all))] {
		out.Items = append(out.Items, show(v))
	}
	return out
}

// newest returns a range of the list in stored order, newest record first: the last page
// costs no more than the first.
func (o Operations[T, L, S]) newest(ctx context.Context, r store.Reader, above table.ID, w window) ([]T, int, error) {
	q := store.Query{Index: byLive, Sorted: true, Desc: true, Offset: w.from}
	if o.Above != nil {
		q.Prefix = prefix(above)
	}
	if w.to != operation.AllItems {
		q.Limit = w.to - w.from
	}
	found, total, err := o.Kind.Page(ctx, r, q)
	page := make([]T, 0, len(found))
	for _, v := range found {
		page = append(page, v.Value)
	}
	return page, total, err
}

// sequenced returns a range of the list in the resource's own order. Only with a keyword
// it reads more than that range.
func (o Operations[T, L, S]) sequenced(ctx context.Context, r store.Reader, above table.ID, w window, keyword string) ([]T, int, error) {
	ids, err := o.Sequence(ctx, r, above)
	if err != nil {
		return nil, 0, err
	}
	total := len(ids)
	if keyword == "" {
		ids = ids[min(w.from, total):min(w.to, total)]
	}
	found := make([]T, 0, len(ids))
	for _, id := range ids {
		v, err := Find(ctx, r, o.Kind, id.String())
		if err != nil {
			return nil, 0, err
		}
		matches, err := o.matches(ctx, r, v, keyword)
		if err != nil {
			return nil, 0, err
		}
		if matches {
			found = append(found, v)
		}
	}
	if keyword == "" {
		return found, total, nil
	}
	return found[min(w.from, len(found)):min(w.to, len(found))], len(found), nil
}

// selected reads the whole list.
func (o Operations[T, L, S]) selected(ctx context.Context, r store.Reader, above table.ID, w window, keyword string, order func(a, b T) int) ([]T, int, error) {
	var all []T
	for v, err := range All(ctx, r, o.Kind, above) {
		if err != nil {
			return nil, 0, err
		}
		matches, err := o.matches(ctx, r, v, keyword)
		if err != nil {
			return nil, 0, err
		}
		if matches {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, order)
	return all[min(w.from, len(all)):min(w.to, len(all))], len(all), nil
}

// labelled reads the whole list, and sorts it by a label.
func (o Operations[T, L, S]) labelled(ctx context.Context, r store.Reader, above table.ID, w window, keyword string, label Label[L], desc bool) ([]T, int, error) {
	all, total, err := o.selected(ctx, r, above, window{to: operation.AllItems}, keyword, ordered[T](nil, false))
	texts := make(map[table.ID]string, len(all))
	for _, v := range all {
		if err != nil {
			break
		}
		var shown L
		shown, err = o.List(ctx, r, v)
		texts[tableOf[T]().Base(&v).ID] = strings.ToLower(label.Of(shown))
	}
	if err != nil {
		return nil, 0, err
	}
	slices.SortStableFunc(all, func(a, b T) int {
		t := tableOf[T]()
		c := strings.Compare(texts[t.Base(&a).ID], texts[t.Base(&b).ID])
		if desc {
			c = -c
		}
		return c
	})
	return all[min(w.from, len(all)):min(w.to, len(all))], total, nil
}

// matches reports whether a record matches a keyword, which is in lower case; "" matches
// all.
func (o Operations[T, L, S]) matches(ctx context.Context, r store.Reader, v T, keyword string) (bool, error) {
	switch {
	case keyword == "":
		return true, nil
	case o.Search != nil:
		return o.Search(v, keyword), nil
	case tableOf[T]().Matches(&v, keyword):
		return true, nil
	case len(o.Labels) == 0:
		return false, nil
	}
	shown, err := o.List(ctx, r, v)
	return err == nil && slices.ContainsFunc(o.Labels, func(l Label[L]) bool { return strings.Contains(strings.ToLower(l.Of(shown)), keyword) }), err
}

// GetRow fetches a record.
func (o Operations[T, L, S]) GetRow(opts ...operation.Option) operation.Row {
	return operation.GET("get", o.path(), "Fetch "+o.One, func(ctx context.Context, in address) (shown S, err error) {
		err = o.Store.View(ctx, in.Scope, func(r store.Reader) error {
			v, err := o.Lookup(ctx, r, in)
			if err == nil {
				shown, err = o.Show(ctx, r, v)
			}
			return err
		})
		return shown, err
	}, o.options(opts, operation.Example(nil, example(o.Sample, o.Show)))...)
}
