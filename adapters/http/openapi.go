package http

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// object is a JSON object. Encoding sorts its members, so that a description changes
// only when the API changes.
type object = map[string]any

// Document describes the operations of a surface, or of every surface when it is "", as
// OpenAPI 3.1. Parameters, bodies and answers come from the Go types of the rows: the
// names of members from their json tags, their descriptions from their doc tags. The
// tags of a type that marshals itself must be true; such a type without tags describes
// itself with a method
// ¶ Schema() map[string]any
func Document(ops []operation.Operation, surface operation.Surface, version string) ([]byte, error) {
	d := &describer{schemas: &schemas{names: map[reflect.Type]string{}, all: maps.Clone(errorSchemas)}, paths: object{}, surfaces: map[string]string{}, resources: map[string]*resource{}, tags: map[string]map[string]string{}, shapes: map[string]string{}}
	ops = slices.Clone(ops)
	slices.SortFunc(ops, func(a, b operation.Operation) int { return cmp.Compare(a.ID, b.ID) })
	for i := range ops {
		if surface == "" || ops[i].Surface == surface {
			if err := d.add(&ops[i]); err != nil {
				return nil, err
			}
		}
	}
	text, err := d.text(surface, version)
	if err != nil {
		return nil, fmt.Errorf("http: API description: %w", err)
	}
	return text, nil
}

// describer collects the parts of a description.
type describer struct {
	*schemas
	paths     object
	surfaces  map[string]string            // of operations, by ID
	resources map[string]*resource         // by the group of their operations
	tags      map[string]map[string]string // by name, then by first segment: the common path prefix of its operations
	shapes    map[string]string            // path by its shape
}

func (d *describer) add(o *operation.Operation) error {
	if other := d.shapes[shape(o.Path)]; other != "" && other != o.Path {
		return fmt.Errorf("http: %s and %s are one path: its placeholders need the same names", other, o.Path)
	}
	d.shapes[shape(o.Path)] = o.Path
	item, ok := d.paths[o.Path].(object)
	if !ok {
		item = object{}
		d.paths[o.Path] = item
	}
	described, err := d.operation(o)
	if err != nil {
		return fmt.Errorf("http: description of %s: %w", o.ID, err)
	}
	item[strings.ToLower(o.Method)] = described
	d.surfaces[o.ID] = string(o.Surface)
	if d.tags[o.Tag] == nil {
		d.tags[o.Tag] = map[string]string{}
	}
	first := firstSegment(o.Path)
	known, own := strings.Split(cmp.Or(d.tags[o.Tag][first], o.Path), "/"), strings.Split(o.Path, "/")
	n := 0
	for n < min(len(known), len(own)) && known[n] == own[n] {
		n++
	}
	d.tags[o.Tag][first] = strings.Join(own[:n], "/") // the path segments that all operations share
	return nil
}

func (d *describer) text(surface operation.Surface, version string) ([]byte, error) {
	d.oneSided()
	resources, kinds := []any{}, map[string]string{} // for each kind, the first resource that can show a record
	names := slices.Sorted(maps.Keys(d.resources))
	for _, name := range names {
		if r := d.resources[name]; r.list != nil && r.list.Item.Kind != "" && r.one != nil {
			kinds[r.list.Item.Kind] = cmp.Or(kinds[r.list.Item.Kind], name)
		}
	}
	for _, name := range names {
		resources = append(resources, d.describeResource(d.resources[name], kinds))
	}
	components := d.compact()
	maps.Copy(components, object{"schemas": d.schemas.all, "securitySchemes": securitySchemes, "headers": sharedHeaders})
	title := "Gatehouse"
	if surface != "" {
		title += " " + string(surface) + " API"
	}
	tags := []any{}
	for _, name := range slices.Sorted(maps.Keys(d.tags)) {
		paths := slices.Sorted(maps.Values(d.tags[name]))
		tags = append(tags, object{"name": name, "description": "Operations below `" + strings.Join(paths, "` and `") + "`."})
	}
	doc := object{
		"openapi": "3.1.0",
		"info": object{
			"title": title, "version": version,
			"description": "The open control plane for API gateways. Each API family has its own error format. With " +
				"`Accept: " + problemType + "`, every error is an RFC 9457 document with a stable `code`.",
			"license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers":     []any{object{"url": "/"}},
		"tags":        tags,
		"paths":       d.paths,
		"components":  components,
		"x-resources": resources,
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	text := bytes.TrimSpace(b.Bytes())
	return text, dangling(text)
}

// shape returns a path without the names of its placeholders.
func shape(path string) string {
	segs := strings.Split(path, "/")
	for i, s := range segs {
		if _, ok := operation.Placeholder(s); ok {
			segs[i] = "{}"
		}
	}
	return strings.Join(segs, "/")
}

// dangling returns an error for references without a target: a Schema method may name a
// type that no row mentions.
func dangling(text []byte) error {
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	var errs []error
	walk(doc, func(ref string) {
		at := doc
		for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			m, _ := at.(map[string]any)
			at = m[name]
		}
		if at == nil {
			errs = append(errs, fmt.Errorf("%s refers to nothing", ref))
		}
	})
	return errors.Join(errs...)
}

// walk calls fn with every reference in a document, in order of names.
func walk(v any, fn func(ref string)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			walk(e, fn)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			fn(ref)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walk(v[name], fn)
		}
	}
}
