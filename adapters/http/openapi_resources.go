package http

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// resource is the description of a group of operations (docs/console.md#resources).
type resource struct {
	name, title, path string
	surface           operation.Surface
	operations        object // operation IDs by verb
	list, one         *operation.Operation
	shown             object   // schema of the answer of get, or else of the items of the list
	answers, bodies   []string // components
}

// resourceOf adds an operation to its resource. Operations that only refuse have none.
func (d *describer) resourceOf(o *operation.Operation, out output) {
	if o.Refuses {
		return
	}
	r := d.resources[o.Group]
	if r == nil {
		r = &resource{name: o.Group, title: o.Tag, path: o.Base, surface: o.Surface, operations: object{}}
		d.resources[o.Group] = r
	}
	verb := o.Verb()
	if _, taken := r.operations[verb]; taken {
		verb = strings.TrimPrefix(o.ID, o.Group+".")
	}
	r.operations[verb] = o.ID
	switch verb {
	case "get":
		r.path, r.one, r.shown = o.Base, o, d.outputSchema(o, out)
	case "list":
		r.path = o.Base
	case "replace", "delete":
		r.one = cmp.Or(r.one, o)
	}
	if o.Item != nil && (r.list == nil || verb == "list") {
		r.list = o
	}
	// The input and output schemas of a resource, to find the members that are in only one
	// of them.
	shown := object(nil)
	switch {
	case verb == "get":
		shown = d.outputSchema(o, out)
	case o.Item != nil:
		_, shown = d.itemsOf(o, out)
	}
	if name := d.componentOf(shown); name != "" {
		r.answers = append(r.answers, name)
	}
	if o.Body == nil || verb != "create" && verb != "replace" {
		return
	}
	name := d.componentOf(d.of(o.Body))
	if name == "" {
		return
	}
	r.bodies = append(r.bodies, name)
	for _, secret := range o.Redact {
		d.mark(name, secret, "format", "password")
	}
}

func (d *describer) describeResource(r *resource, kinds map[string]string) object {
	about := object{"name": r.name, "title": r.title, "surface": r.surface, "path": r.path, "operations": r.operations}
	if r.one != nil {
		if name, ok := operation.Placeholder(r.one.Path[strings.LastIndex(r.one.Path, "/")+1:]); ok {
			about["parameter"] = name
		}
	}
	if r.list == nil {
		return about
	}
	item := r.list.Item
	r.operations["list"] = cmp.Or(r.operations["list"], any(r.list.ID))
	out, err := outputOf(r.list)
	if err != nil {
		return about
	}
	_, shown := d.itemsOf(r.list, out)
	for name, value := range map[string]string{"kind": item.Kind, "id": d.there(shown, item.ID), "label": d.there(shown, item.Name)} {
		if value != "" {
			about[name] = value
		}
	}
	if r.shown != nil {
		shown = r.shown
	}
	links, seen := []any{}, map[string]bool{}
	for _, l := range item.Links {
		place, byKey := d.place(shown, l)
		if place == "" || seen[place] {
			continue
		}
		seen[place] = true
		link := object{"member": place, "kind": l.Kind}
		if byKey {
			link["key"] = true
		}
		if to := kinds[l.Kind]; to != "" {
			link["resource"] = to
		}
		links = append(links, link)
	}
	if len(links) > 0 {
		about["links"] = links
	}
	return about
}

// place returns the path at which records of a schema have a link, with * for names that
// users choose. byKey reports whether such a name is the link's target.
func (d *describer) place(schema object, l operation.Link) (at string, byKey bool) {
	var path []string
	for segment := range strings.SplitSeq(l.Where, ".") {
		schema = d.resolved(schema)
		if of, ok := fieldsOf(schema["properties"]).Get(segment).(object); ok {
			path, schema, byKey = append(path, segment), of, false
			continue
		}
		if len(path) == 0 { // the schema does not have the member
			return "", false
		}
		path, byKey = append(path, "*"), segment == l.ID
		schema, _ = schema["additionalProperties"].(object)
	}
	return strings.Join(path, "."), byKey
}

// resolved returns the target of a reference, or the schema itself.
func (d *describer) resolved(schema object) object {
	for {
		to, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		schema, _ = d.schemas.all[strings.TrimPrefix(to, "#/components/schemas/")].(object)
	}
}

// itemsOf returns the name of the member of an answer that contains the items of a list,
// or "" if the answer itself does, and the schema of the items; nil: there are none.
func (d *describer) itemsOf(o *operation.Operation, out output) (member string, items object) {
	schema := d.resolved(d.outputSchema(o, out))
	if items, ok := schema["items"].(object); ok {
		return "", items
	}
	for _, f := range fieldsOf(schema["properties"]) {
		if of, ok := f.Value.(object); ok {
			if items, ok := d.resolved(of)["items"].(object); ok {
				return f.Name, items
			}
		}
	}
	return "", nil
}

// permission describes who may call (docs/console.md#permissions).
func permission(o *operation.Operation) object {
	switch {
	case o.Public:
		return object{"callers": []string{"anybody"}}
	case o.Brokers && o.Surface == operation.Portal:
		return object{"callers": []string{"broker"}}
	case o.Brokers && o.Surface == operation.Admin:
		return object{"callers": []string{"super-admin", "broker"}}
	case o.Surface == operation.Admin:
		return object{"callers": []string{"super-admin"}}
	case o.Surface == operation.Node:
		return object{"callers": []string{"gateway"}}
	case o.Surface == operation.Portal:
		return object{"callers": []string{"portal-admin"}}
	}
	about := need(o.Permission, o.Intent)
	about["callers"] = []string{"user"}
	if o.Brokers {
		about["callers"] = []string{"user", "super-admin", "broker"}
	}
	if o.Own != "" {
		about["own"] = o.Own
	}
	var more []any
	for _, n := range o.Needs {
		also := need(n.Permission, n.Intent)
		if len(n.Params) > 0 {
			also["parameters"] = n.Params
		}
		more = append(more, also)
	}
	if more != nil {
		about["needs"] = more
	}
	return about
}

func need(p access.Permission, i access.Intent) object {
	level := access.Needed(p, i)
	if level == "" { // any user may
		return object{}
	}
	return object{"group": p, "level": level}
}

// listed describes how a list can be filtered, sorted and paged (docs/console.md#lists).
func (d *describer) listed(o *operation.Operation, out output) object {
	member, items := d.itemsOf(o, out)
	about, page := object{"items": member}, object{}
	for _, p := range o.Params {
		switch p.Page {
		case "":
		case "size":
			page["size"] = p.Name
		default:
			page["parameter"], page["everything"] = p.Name, p.Page
		}
	}
	if len(page) > 0 {
		about["page"] = page
		if out.form == listingForm {
			page["total"] = "X-Total-Count"
		} else if key := pagesKey(o.Style); fieldsOf(d.resolved(d.outputSchema(o, out))["properties"]).Get(key) != nil { // answers contain it
			page["pages"] = key
		}
	}
	var filters []any
	for _, f := range o.Filters {
		filter := object{"parameter": f.Param, "by": f.By}
		members := slices.DeleteFunc(slices.Clone(f.Members), func(at string) bool { return d.there(items, at) == "" })
		if len(members) > 0 {
			filter["members"] = members
		}
		filters = append(filters, filter)
	}
	if filters != nil {
		about["filters"] = filters
	}
	if o.Order != nil {
		var values []any
		for _, k := range o.Order.Keys {
			value := object{"value": k.Value}
			if at := d.there(items, k.Member); at != "" {
				value["member"] = at
			}
			if k.Desc {
				value["descending"] = true
			}
			values = append(values, value)
		}
		about["sort"] = object{"parameter": o.Order.Param, "values": values}
	}
	return about
}

// there returns path if the schema has a member at it, or "".
func (d *describer) there(schema object, path string) string {
	for name := range strings.SplitSeq(path, ".") {
		next, ok := fieldsOf(d.resolved(schema)["properties"]).Get(name).(object)
		if !ok {
			return ""
		}
		schema = next
	}
	return path
}
