package posts

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/post"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// within is the input of operations on the labels of a post.
type within struct {
	Scope tenant.Scope
	Post  string `path:"^"`
}

type (
	listing struct {
		within
		portal.Page `params:""`
	}
	labelled struct {
		within
		Label string `path:""`
	}
	labelling[K interface{ Kind() string }] struct {
		within
		Body table.Body[post.Choice[K]] `body:""`
	}
)

// words are the singular and plural of a label in summaries.
type words struct{ one, many string }

// shelf has the operations on one type of labels.
type shelf struct {
	operations
	label post.Label
}

// labelRows are the rows of one type of labels. With numbered, lists contain the ID as
// a number; everything else has it as text.
func labelRows[K interface{ Kind() string }](o operations, word words, l post.Label, numbered bool) []operation.Row {
	s := shelf{o, l}
	sample := record{Name: "News"}
	sample.ID, sample.CreatedAt, sample.UpdatedAt = 1, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	path, above := "/{post_id}/"+word.many, operation.Above("post_id", "Number or CID of the post.")
	named := operation.Identifier(word.one+"_id", "Number or CID of the "+word.one+".")
	var listRow operation.Row
	if numbered {
		listRow = listLabels(s, word, sample, func(r record) NumberedLabel {
			return NumberedLabel{r.ID, r.Name, table.Stamp(r.CreatedAt), table.Stamp(r.UpdatedAt)}
		})
	} else {
		listRow = listLabels(s, word, sample, label)
	}
	return []operation.Row{
		listRow,
		operation.POST("attach-"+word.one, path, "Attach a "+word.one+" to a post", func(ctx context.Context, in labelling[K]) (out Label, err error) {
			err = s.update(ctx, in.within, func(ctx context.Context, w store.Writer, p post.Post) (post.Post, error) {
				var c post.Choice[K]
				err := in.Body.Apply(&c, true, portal.Resolver(ctx, w))
				if err != nil {
					return p, err
				}
				if p, err = s.label.Attach(p, c.Label); err != nil {
					return p, err
				}
				found, err := portal.Glance[record](ctx, w, s.label.Kind, c.Label)
				out = label(found)
				return p, err
			})
			return out, err
		}, above, operation.Status(201), portal.Unprocessable(), operation.Faulting(table.CodeInvalid), operation.Example(map[string]any{"ID": 1}, label(sample))),
		operation.DELETE("detach-"+word.one, path+"/{"+word.one+"_id}", "Detach a "+word.one+" from a post", s.detach, above, named,
			operation.Example(nil, portal.Status{Status: "ok"}), operation.Notes("The "+word.one+" itself is not deleted.")),
	}
}

func listLabels[V any](s shelf, word words, sample record, shown func(record) V) operation.Row {
	return operation.GET("list-"+word.many, "/{post_id}/"+word.many, "List the "+word.many+" of a post", func(ctx context.Context, in listing) (out operation.Listing[V], err error) {
		err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
			p, err := portal.Find(ctx, r, Kind, in.Post)
			if err != nil {
				return err
			}
			all, err := labelsOf(ctx, r, p, s.label)
			out = portal.Excerpt(all, in.Page, shown)
			return err
		})
		return out, err
	}, operation.Above("post_id", "Number or CID of the post."),
		operation.Example(nil, operation.Listing[V]{Items: []V{shown(sample)}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage}))
}

// update runs a write on a post: fn returns the new post.
func (s shelf) update(ctx context.Context, in within, fn func(context.Context, store.Writer, post.Post) (post.Post, error)) error {
	at := s.Stamp(in.Scope)
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		p, err := portal.Find(ctx, w, Kind, in.Post)
		if err != nil {
			return err
		}
		fresh, err := fn(ctx, w, p)
		if err != nil {
			return err
		}
		_, err = portal.Edit(ctx, w, Kind, p.ID, at, func(post.Post) (post.Post, error) { return fresh, nil })
		return err
	})
	return err
}

func (s shelf) detach(ctx context.Context, in labelled) (portal.Status, error) {
	return portal.Status{Status: "ok"}, s.update(ctx, in.within, func(ctx context.Context, w store.Writer, p post.Post) (post.Post, error) {
		id, found, err := portal.Resolver(ctx, w)(s.label.Kind, in.Label)
		if err == nil && (!found || !slices.Contains(*s.label.At(&p), id)) {
			err = fault.New(fault.NotFound, s.label.Kind+".absent", "record not found")
		}
		return s.label.Detach(p, id), err
	})
}

// record is the read part of a label.
type record struct {
	table.Base
	Name string
}

// Table implements table.Row: lists of labels are sorted and searched by it.
func (record) Table() *table.Table[record] { return records }

var records = &table.Table[record]{
	Kind: "portal-label", Noun: "label",
	Base:   func(r *record) *table.Base { return &r.Base },
	Fields: []table.Field[record]{{Name: "Name", At: func(r *record) any { return &r.Name }}},
}

// labelsOf returns the labels of a post, without deleted ones.
func labelsOf(ctx context.Context, r store.Reader, p post.Post, l post.Label) (out []record, err error) {
	for _, id := range *l.At(&p) {
		found, err := portal.Glance[record](ctx, r, l.Kind, id)
		if err != nil {
			return nil, err
		}
		if found.ID != 0 {
			out = append(out, found)
		}
	}
	return out, nil
}

// Names returns the names of labels by their numbers, without deleted ones.
func Names(ctx context.Context, r store.Reader, l post.Label, ids []table.ID) ([]string, error) {
	var p post.Post
	*l.At(&p) = ids
	all, err := labelsOf(ctx, r, p, l)
	out := []string{}
	for _, v := range all {
		out = append(out, v.Name)
	}
	return out, err
}
