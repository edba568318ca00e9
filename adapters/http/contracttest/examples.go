package contracttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Examples returns an error for every example of the description that does not match
// its schema, and for every operation without an example of success.
func (c *Contract) Examples() error {
	var errs []error
	for _, op := range c.operations {
		item := object(object(object(c.doc["paths"])[op.at[1]])[op.at[2]])
		if body := object(item["requestBody"]); body != nil {
			errs = append(errs, c.media(append(slices.Clone(op.at), "requestBody"), body))
		}
		examples := 0
		for _, status := range slices.Sorted(maps.Keys(op.responses)) {
			response := object(op.responses[status])
			errs = append(errs, c.media(append(slices.Clone(op.at), "responses", status), response))
			if status == "303" || status == "204" { // these have no content
				examples++
			}
			content := object(response["content"])
			for _, media := range content { // a file has no example
				if _, ok := object(media)["example"]; status[0] == '2' && (ok || object(object(media)["schema"])["format"] == "binary" && len(content) == 1) {
					examples++
				}
			}
		}
		succeeds := func(status string) bool { return status[0] < '4' }
		if examples == 0 && slices.ContainsFunc(slices.Collect(maps.Keys(op.responses)), succeeds) { // other operations only refuse
			errs = append(errs, fmt.Errorf("%s has no example of success", op.id))
		}
	}
	responses := object(object(c.doc["components"])["responses"])
	for _, name := range slices.Sorted(maps.Keys(responses)) {
		errs = append(errs, c.media(pointer{"components", "responses", name}, object(responses[name])))
	}
	return errors.Join(errs...)
}

// media checks the examples of a request body or a response.
func (c *Contract) media(at pointer, holder map[string]any) error {
	var errs []error
	for name, m := range object(holder["content"]) {
		examples := []any{}
		if v, ok := object(m)["example"]; ok {
			examples = append(examples, v)
		}
		for _, e := range object(object(m)["examples"]) {
			examples = append(examples, c.resolved(object(e))["value"])
		}
		for _, e := range examples {
			schema := append(slices.Clone(at), "content", name, "schema")
			text, err := json.Marshal(e)
			if err == nil {
				err = c.validate(schema, text)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("contracttest: example at %s: %w", schema, err))
			}
		}
	}
	return errors.Join(errs...)
}

// resolved returns the target of a reference to a component.
func (c *Contract) resolved(v map[string]any) map[string]any {
	ref, ok := v["$ref"].(string)
	if !ok {
		return v
	}
	at := any(c.doc)
	for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		at = object(at)[name]
	}
	return object(at)
}
