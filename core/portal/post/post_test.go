package post_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/post"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

// TestTables: the fields of posts, categories and choices.
func TestTables(t *testing.T) {
	const valid = `"Title":"T","Content":"C","Status":"draft"`
	tabletest.Sound[post.Post](t, `{`+valid+`,"Path":"news"}`)
	tabletest.Sound[post.Category](t, `{"Name":"News"}`)
	tabletest.Sound[post.Choice[post.OfCategory]](t, `{"ID":1}`)
	tabletest.Sound[post.Choice[post.OfTag]](t, `{"ID":1}`)
	tabletest.Bodies(t, post.Post{AuthorID: 5}, true, map[string]string{
		`{` + valid + `,"Path":"a/b"}`:                                     "Path is invalid",
		`{` + valid + `,"Path":".."}`:                                      "Path is invalid",
		`{` + valid + `,"Path":"p","AuthorID":6,"MarkdownEnabled":"true"}`: `{"Path":"p","AuthorID":5,"MarkdownEnabled":true}`,
	})
	for kind, choice := range map[string]interface{ Kind() string }{post.CategoryKind: post.OfCategory{}, "portal-tag": post.OfTag{}} {
		if choice.Kind() != kind {
			t.Errorf("a choice of %s is one of %s", kind, choice.Kind())
		}
	}
}

// TestLabels: a label is attached once, and the post that was read stays as it is.
func TestLabels(t *testing.T) {
	for _, l := range []post.Label{post.ByCategory, post.ByTag} {
		was := post.Post{}
		*l.At(&was) = []table.ID{1, 2}
		p, err := l.Attach(was, 3)
		if err != nil || !slices.Equal(*l.At(&p), []table.ID{1, 2, 3}) {
			t.Errorf("%s: %v, %v", l.Name, *l.At(&p), err)
		}
		if _, err := l.Attach(p, 3); err == nil || err.Error() != "ID is one of "+l.Name+" already" {
			t.Errorf("%s: %v", l.Name, err)
		}
		if less := l.Detach(p, 2); !slices.Equal(*l.At(&less), []table.ID{1, 3}) || !slices.Equal(*l.At(&p), []table.ID{1, 2, 3}) {
			t.Errorf("%s: %v of %v", l.Name, *l.At(&less), *l.At(&p))
		}
		if len(*l.At(&was)) != 2 {
			t.Errorf("%s: the post that was read has changed", l.Name)
		}
		*l.At(&p) = make([]table.ID, table.MaxList)
		if _, err := l.Attach(p, 3); err == nil || err.Error() != l.Name+" has 1000 entries at most" {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
	if post.ByCategory.At(&post.Post{}) == post.ByTag.At(&post.Post{}) || post.ByCategory.Kind == post.ByTag.Kind {
		t.Error("categories are tags")
	}
}
