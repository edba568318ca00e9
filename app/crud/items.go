package crud

import (
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Item returns what a list of resources shows, which is found in one of them: the member
// that has its identifier, and the member that has its name.
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

// links returns where a sample of the kind names others.
func (f Facts[T]) links(at Stamp) (out []operation.Link) {
	v, err := f.Sample(at)
	if err != nil {
		return nil // Check tells of it
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

// Link tells operations that list records of the kinds which others these name.
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
