package operation

import (
	"cmp"
	"strings"
)

// Item describes the items of a list: which of their members identify and name them. Members
// are given by their path, with dots between names
// (docs/console.md#what-the-description-says).
type Item struct {
	Kind string // kind of the records, as references use it; "": they are not records of the control plane
	ID   string // member with the identifier that operations on one item take in their path
	Name string // member with the display name; "": there is none
	// Links lists where a record of the kind refers to others.
	Links []Link
}

// Link is a place where a record refers to another one: in a sample of its kind.
type Link struct {
	Where    string // in the sample: names of members with dots between them
	Kind, ID string // the record to which it refers
}

// Matching is how a filter compares its value with the members of items.
type Matching string

// The values of Matching.
const (
	Equal Matching = "equal" // the member is the value
	AnyOf Matching = "any"   // the member, or one of its entries, is one of the values between commas
	Part  Matching = "part"  // the text of one of the members contains the value
	From  Matching = "from"  // the member is the value, or comes after it
	To    Matching = "to"    // the member is the value, or comes before it
	Holds Matching = "holds" // the member is true; the value is not used
)

// Filter is a query parameter that narrows a list.
type Filter struct {
	Param   string
	By      Matching
	Members []string // of the items; none: the filter uses data that the items do not show
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

// Lists describes the items of the response.
func Lists(i Item) Option {
	return func(s *Spec) { s.Item = &i }
}

// Like says that the response, a Rendition, has the form of a type.
func Like(v any) Option { return func(s *Spec) { s.Like = v } }

// Narrows says how a query parameter filters the list.
func Narrows(param string, by Matching, members ...string) Option {
	return func(s *Spec) { s.Filters = append(s.Filters, Filter{param, by, members}) }
}

// Sorts says by which members a query parameter orders the list. Its values are the names of
// keys for ascending order and, with a prefix or a suffix, for descending order.
func Sorts(param, prefix, suffix string, keys ...SortKey) Option {
	return func(s *Spec) {
		s.Order = &Ordering{Param: param}
		for _, k := range keys {
			s.Order.Keys = append(s.Order.Keys, k, SortKey{prefix + k.Value + suffix, k.Member, true})
		}
	}
}

// verbs are the names of operations on one record of the resource of their group, by method.
var verbs = map[string]string{"GET": "get", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}

// Verb returns what the row does to the resource of its group: the last part of its ID, unless
// its method and path get, replace, patch or delete one record.
func (s *Spec) Verb() string {
	name := strings.TrimPrefix(s.ID, s.Group+".")
	below := strings.TrimPrefix(s.Path, s.Base+"/")
	if _, one := Placeholder(below); one && !strings.Contains(below, "/") && name != "list" && name != "create" {
		return cmp.Or(verbs[s.Method], name)
	}
	return name
}

// checkItem complains about statements of a row about its list that cannot be true.
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
