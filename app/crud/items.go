package crud

import (
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Item describes the items of a list of resources: the member with the ID, and the
// member with the name. It finds them in a sample v.
func (f Facts[T]) Item(v T) operation.Item {
	item := operation.Item{Kind: f.Kind.Name}
	text, err := json.Marshal(v)
	if err != nil {
		return item
	}
	n, err := doc.ParseNode(text)
	if err != nil {
		return item
	}
	item.ID = memberWith(n, f.Kind.Names(v)[0])
	if f.Name != nil {
		item.Name = memberWith(n, f.Name(v))
	}
	return item
}

// memberWith returns the first member of an object that has a value, or "".
func memberWith(n *doc.Node, value string) string {
	for name, v := range n.Members() {
		if value != "" && v.Text() == value {
			return name
		}
	}
	return ""
}

// links returns the places where a sample of the kind refers to other records.
func (f Facts[T]) links(at Stamp) (out []operation.Link) {
	v, err := f.Sample(at)
	if err != nil {
		return nil // Check reports the error
	}
	var refs []integrity.Ref
	if f.Kind.Refs != nil {
		refs = f.Kind.Refs(v)
	}
	for _, u := range f.uses(v, refs) {
		out = append(out, operation.Link{Where: u.Where, Kind: u.Kind, ID: u.ID})
	}
	return out
}

// Link adds, to operations that list records of the kinds, the places where these
// records refer to others.
func (ks Kinds) Link(ops []operation.Operation) {
	for i := range ops {
		if ops[i].Item == nil {
			continue
		}
		if r := ks.named(ops[i].Item.Kind); r != nil && r.links != nil && ops[i].Item.Links == nil {
			item := *ops[i].Item
			item.Links = r.links(exampleStamp)
			ops[i].Item = &item
		}
	}
}
