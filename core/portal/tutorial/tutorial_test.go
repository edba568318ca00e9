package tutorial_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/post"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
	"github.com/gatehouse-io/gatehouse/core/portal/tag"
	"github.com/gatehouse-io/gatehouse/core/portal/tutorial"
)

func resolve(kind, name string) (table.ID, bool, error) {
	if id, ok := table.ParseID(name); ok && kind == tag.Kind && id < 10 {
		return id, true, nil
	}
	return 0, false, nil
}

// TestFields states which values the fields of a tutorial take, and how lenient the service
// is.
func TestFields(t *testing.T) {
	const good = `{"Title":"Start","Content":"<p>","Path":"start","Status":"published"`
	for body, want := range map[string]string{
		good + `}`: "",
		good + `,"Lede":1,"MarkdownEnabled":"true","MarkdownContent":"#","PreviewContent":null,"CID":"2r7p8aUnkzby17hCJk8w2XvK3K6"}`: "",
		good + `,"Tags":"2"}`:                                 "",
		good + `,"Tags":[1,"2",1]}`:                           "",
		good + `,"Tags":[]}`:                                  "",
		good + `,"Tags":null}`:                                "",
		good + `,"Tags":["Payments"]}`:                        "",
		good + `,"Tags":[{"ID":1}]}`:                          "",
		good + `,"Unknown":1,"ID":7}`:                         "",
		good + `,"Tags":[99]}`:                                "Tags is invalid",
		good + `,"Categories":[1]}`:                           "Categories is invalid",
		good + `,"Categories":["News"]}`:                      "",
		good + `,"Status":"gone"}`:                            "Status is invalid",
		good + `,"Status":""}`:                                "Status can't be blank",
		good + `,"Path":"a/b"}`:                               "Path is invalid",
		good + `,"Path":"a b"}`:                               "Path is invalid",
		good + `,"Title":" "}`:                                "Title can't be blank",
		good + `,"Title":{}}`:                                 "Title is invalid",
		good + `,"MarkdownEnabled":"perhaps"}`:                "MarkdownEnabled is invalid",
		good + `,"CID":"x"}`:                                  "CID is invalid",
		`{}`:                                                  "Title can't be blank; Content can't be blank; Path can't be blank; Status can't be blank",
		good + `,"Title":"` + strings.Repeat("x", 256) + `"}`: "Title is too long (the maximum is 255 characters)",
	} {
		var b table.Body[tutorial.Tutorial]
		if err := json.Unmarshal([]byte(body), &b); err != nil {
			t.Fatal(err)
		}
		var page tutorial.Tutorial
		err := b.Apply(&page, true, resolve)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestOrder states how an order can change.
func TestOrder(t *testing.T) {
	o := tutorial.Order{Sequence: []table.ID{3, 1, 2}}
	for name, c := range map[string]struct {
		want []table.ID
		text string
	}{
		"another":  {[]table.ID{2, 1, 3}, ""},
		"the same": {[]table.ID{3, 1, 2}, ""},
		"unknown":  {[]table.ID{2, 1, 4}, "tutorial 4 is none of this product"},
		"twice":    {[]table.ID{2, 1, 2}, "tutorial 2 is there twice"},
		"missing":  {[]table.ID{2, 1}, "tutorial 3 is missing"},
		"none":     {nil, "tutorial 3 is missing"},
		"more":     {[]table.ID{2, 1, 3, 3}, "tutorial 3 is there twice"},
	} {
		got, err := o.Rearrange(c.want)
		if c.text == "" && (err != nil || !slices.Equal(got.Sequence, c.want)) || c.text != "" && (err == nil || !strings.Contains(err.Error(), c.text) || !slices.Equal(got.Sequence, o.Sequence)) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	more, err := o.Add(9)
	if err != nil || !slices.Equal(more.Sequence, []table.ID{3, 1, 2, 9}) || !slices.Equal(more.Remove(1).Sequence, []table.ID{3, 2, 9}) || len(o.Sequence) != 3 {
		t.Error(more, err)
	}
	if _, err := (tutorial.Order{Sequence: make([]table.ID, table.MaxList)}).Add(1); err == nil {
		t.Error("there is no end")
	}
}

// FuzzRearrange checks that an accepted order has the same tutorials.
func FuzzRearrange(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{3, 2, 1})
	f.Add([]byte{}, []byte{1})
	f.Fuzz(func(t *testing.T, have, want []byte) {
		o := tutorial.Order{Sequence: unique(have)}
		got, err := o.Rearrange(ids(want))
		if err != nil {
			return
		}
		a, b := slices.Sorted(slices.Values(o.Sequence)), slices.Sorted(slices.Values(got.Sequence))
		if !slices.Equal(a, b) {
			t.Error(have, want)
		}
	})
}

func ids(raw []byte) (out []table.ID) {
	for _, b := range raw {
		out = append(out, table.ID(b))
	}
	return out
}

func unique(raw []byte) []table.ID {
	slices.Sort(raw)
	return ids(slices.Compact(raw))
}

// TestTable: the fields of tutorials.
func TestTable(t *testing.T) {
	tabletest.Sound[tutorial.Tutorial](t, `{"Title":"T","Content":"C","Status":"draft","Path":"begin"}`)
	page := tutorial.Tutorial{ProductID: 3, Article: post.Article{Path: "begin"}}
	if of := page.Table(); of.Parent(page) != 3 || of.Unique[0].Of(page) == of.Unique[0].Of(tutorial.Tutorial{ProductID: 4, Article: page.Article}) {
		t.Error("tutorials of two products share addresses")
	}
}
