package operation

import (
	"cmp"
	"strings"
)

// Item is what a list shows: which of its members say what it is. Members are named by
// their path, with dots between names (docs/console.md#what-the-description-says).
type Item struct {
	Kind string // of the records, as references name it; "": they are none of ours
	ID   string // member that operations about one of them take in their path
	Name string // member that people know it by; "": there is none
	// Links is where a record of the kind names others.
	Links []Link
}

// Link is a place where a record names another one: in a sample of its kind.
type Link struct {
	Where    string // in the sample: names of members with dots between them
	Kind, ID string // what is named there
}

// Matching is how a filter compares what it is given with the members of items.
type Matching string

// The ways of filters.
const (
	Equal Matching = "equal" // the member is the value
	AnyOf Matching = "any"   // the member, or one of its entries, is one of the values between commas
	Part  Matching = "part"  // the text of one of the members contains the value
	From  Matching = "from"  // the member is the value, or comes after it
	To    Matching = "to"    // the member is the value, or comes before it
	Holds Matching = "holds" // whatever the value is: the member is true
)

// Filter is a query parameter that narrows a list.
type Filter struct {
	Param   string
	By      Matching
	Members []string // of the items; none: it looks at what the items do not show
}

// SortKey is a value of the query parameter that orders a list.
type SortKey struct {
	Value, Member string
	Desc          bool
}

// Ordering is the query parameter that orders a list, with all its values.
type Ordering struct {
	Param string
	Keys  []SortKey
}

// Lists says what the items of the answer are.
func Lists(i Item) Option {
	return func(s *Spec) { s.Item = &i }
}

// Like says that the answer, a Rendition, looks like values of a type.
func Like(v any) Option { return func(s *Spec) { s.Like = v } }

// Narrows says by what a query parameter narrows the list.
func Narrows(param string, by Matching, members ...string) Option {
	return func(s *Spec) { s.Filters = append(s.Filters, Filter{param, by, members}) }
}

// Sorts says by which members a query parameter orders the list: a value is the name of
// a key for ascending and, with a prefix or a suffix, for descending.
func Sorts(param, prefix, suffix string, keys ...SortKey) Option {
	return func(s *Spec) {
		s.Order = &Ordering{Param: param}
		for _, k := range keys {
			s.Order.Keys = append(s.Order.Keys, k, SortKey{prefix + k.Value + suffix, k.Member, true})
		}
	}
}

// verbs are what rows do to one record of the resource of their group, by method.
var verbs = map[string]string{"GET": "get", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}

// Verb is what the row does to the resource of its group: its name there, unless method
// and path say that it gets, replaces, patches or deletes one record.
func (s *Spec) Verb() string {
	name := strings.TrimPrefix(s.ID, s.Group+".")
	below := strings.TrimPrefix(s.Path, s.Base+"/")
	if _, one := Placeholder(below); one && !strings.Contains(below, "/") && name != "list" && name != "create" {
		return cmp.Or(verbs[s.Method], name)
	}
	return name
}

// checkItem complains about what a row says of a list, and cannot be.
func checkItem(o *Operation, complain func(*Operation, string, ...any)) {
	there := map[string]bool{}
	for _, p := range o.Params {
		there[p.Name] = there[p.Name] || p.In == "query"
	}
	for _, f := range o.Filters {
		if !there[f.Param] {
			complain(o, "narrows by %s, which is no query parameter", f.Param)
		}
	}
	if o.Order != nil && !there[o.Order.Param] {
		complain(o, "sorts by %s, which is no query parameter", o.Order.Param)
	}
	if o.Item == nil && (len(o.Filters) > 0 || o.Order != nil) {
		complain(o, "narrows or sorts a list, and does not say what it lists")
	}
}
