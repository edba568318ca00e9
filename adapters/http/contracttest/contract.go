// Package contracttest checks answers against the API description, so that tests notice
// when one of the two is wrong.
package contracttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Contract is a parsed OpenAPI 3.1 description.
type Contract struct {
	compiler   *jsonschema.Compiler
	doc        map[string]any
	operations []*operation
	schemas    map[string]*jsonschema.Schema // compiled, by location
}

type operation struct {
	id, method string
	path       []string // segments of the template
	at         pointer
	responses  map[string]any
	alone      bool // other methods get 404 in place of 405
}

// pointer is a JSON pointer into the description, split into its tokens.
type pointer []string

// String returns the pointer as a URL fragment.
func (p pointer) String() string {
	var b strings.Builder
	b.WriteByte('#')
	for _, step := range p {
		step = strings.NewReplacer("~", "~0", "/", "~1").Replace(step)
		b.WriteString("/" + url.PathEscape(step))
	}
	return b.String()
}

const location = "urn:description"

// Load reads a description.
func Load(document []byte) (*Contract, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("contracttest: %w", err)
	}
	c := &Contract{compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	c.doc, _ = v.(map[string]any)
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(location, v); err != nil {
		return nil, fmt.Errorf("contracttest: %w", err)
	}
	paths := object(c.doc["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := object(paths[path])
		for _, method := range slices.Sorted(maps.Keys(item)) {
			op := object(item[method])
			id, _ := op["operationId"].(string)
			alone, _ := op["x-alone"].(bool)
			c.operations = append(c.operations, &operation{id: id, alone: alone, method: strings.ToUpper(method), path: segments(path),
				at: pointer{"paths", path, method}, responses: object(op["responses"])})
		}
	}
	if len(c.operations) == 0 {
		return nil, errors.New("contracttest: the description has no operations")
	}
	return c, nil
}

// Operations returns the operationIds in the description.
func (c *Contract) Operations() []string {
	var ids []string
	for _, op := range c.operations {
		ids = append(ids, op.id)
	}
	slices.Sort(ids)
	return ids
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func segments(path string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimLeft(path, "/"), "/"), "/")
}

// Check checks the answer to a request against the description. path is as sent, escaped
// and without the query. A request that the description does not contain must be answered
// with 404 or 405, and an error body. The portal's API does not support HEAD, and answers
// every request with 503 before its bootstrap.
func (c *Contract) Check(method, path string, status int, contentType string, body []byte) error {
	head, portal := method == "HEAD", segments(path)[0] == "portal-api"
	if head && !portal {
		method = "GET"
	}
	op, known := c.find(method, path)
	switch {
	case op == nil:
		if want := map[bool]int{false: 404, true: 405}[known]; status != want && !(portal && status == 503) {
			return fmt.Errorf("contracttest: no operation of the description has this route, and the answer is %d, not %d", status, want)
		}
		if head {
			return nil
		}
		var errs []error
		for _, name := range []string{"Error", "NodeError", "PortalError", "Problem"} {
			if object(object(c.doc["components"])["schemas"])[name] == nil {
				continue
			}
			err := c.validate(pointer{"components", "schemas", name}, body)
			if err == nil {
				return nil
			}
			errs = append(errs, err)
		}
		return fmt.Errorf("contracttest: %d %s is no error of the description: %w", status, contentType, errors.Join(errs...))
	case head && len(body) > 0:
		return fmt.Errorf("contracttest: %s answers HEAD with a body", op.id)
	}
	return c.check(op, status, contentType, body, head)
}

// CheckOperation is Check by operationId.
func (c *Contract) CheckOperation(id string, status int, contentType string, body []byte) error {
	for _, op := range c.operations {
		if op.id == id {
			return c.check(op, status, contentType, body, false)
		}
	}
	return fmt.Errorf("contracttest: there is no operation %s", id)
}

// find returns the operation of a request. If several templates match, the one whose first
// difference is literal wins. known reports whether a path matches; paths that are alone
// do not count.
func (c *Contract) find(method, path string) (best *operation, known bool) {
	segs := segments(path)
	for _, op := range c.operations {
		if !op.fits(segs) {
			continue
		}
		known = known || !op.alone
		if op.method == method && (best == nil || op.before(best)) {
			best = op
		}
	}
	return best, known
}

func (op *operation) fits(segs []string) bool {
	if len(segs) != len(op.path) {
		return false
	}
	for i, want := range op.path {
		have, err := url.PathUnescape(segs[i])
		if err != nil || placeholder(want) && have == "" || !placeholder(want) && have != want {
			return false
		}
	}
	return true
}

func (op *operation) before(other *operation) bool {
	for i := range op.path {
		if a, b := placeholder(op.path[i]), placeholder(other.path[i]); a != b {
			return b
		}
	}
	return false
}

func placeholder(seg string) bool { return strings.HasPrefix(seg, "{") }

func (c *Contract) check(op *operation, status int, contentType string, body []byte, head bool) error {
	at := append(slices.Clone(op.at), "responses", strconv.Itoa(status))
	response := object(op.responses[strconv.Itoa(status)])
	if response == nil {
		return fmt.Errorf("contracttest: %s does not say that it can answer %d: %s", op.id, status, body)
	}
	if ref, ok := response["$ref"].(string); ok {
		at = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		response = object(object(object(c.doc["components"])["responses"])[at[len(at)-1]])
	}
	content := object(response["content"])
	if content == nil {
		if len(body) > 0 {
			return fmt.Errorf("contracttest: %s answers %d without a body by its description, and with one in fact", op.id, status)
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || content[media] == nil {
		return fmt.Errorf("contracttest: %s does not say that it can answer %d with %q", op.id, status, contentType)
	}
	if head || object(object(content[media])["schema"])["format"] == "binary" { // a file is not JSON
		return nil
	}
	if media == "text/plain" { // neither is plain text: its schema is that of a string
		if body, err = json.Marshal(string(body)); err != nil {
			return err
		}
	}
	if err := c.validate(append(at, "content", media, "schema"), body); err != nil {
		return fmt.Errorf("contracttest: %s, %d: %w", op.id, status, err)
	}
	return nil
}

// validate checks a JSON text against the schema at a place in the description.
func (c *Contract) validate(at pointer, body []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	schema, ok := c.schemas[at.String()]
	if !ok {
		if schema, err = c.compiler.Compile(location + at.String()); err != nil {
			return err
		}
		c.schemas[at.String()] = schema
	}
	return schema.Validate(v)
}
