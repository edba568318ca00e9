package datagraph

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/weburl"
)

var openAPIVersion = regexp.MustCompile(`^3\.[01]\.[0-9]+`)

// FromOpenAPI returns the definition of a data graph that uses the operations of an OpenAPI
// 3.0 or 3.1 document, which is not changed: queries use GET, mutations POST, PUT, PATCH and
// DELETE. Errors are faults with Code.
func FromOpenAPI(document *doc.Node) (*doc.Node, error) {
	b := newBuilder(document)
	if !openAPIVersion.MatchString(document.Get("openapi").Text()) {
		b.fail("openapi", "must be the version of OpenAPI, which is 3.0 or 3.1")
	}
	title, target := b.title(), b.server("servers", document.Get("servers"))
	for _, o := range oas.Operations(document) {
		if b.err == nil {
			b.operation(o)
		}
	}
	if len(b.sources.Items()) == 0 {
		b.fail("paths", "has no operation that a graph can use")
	}
	return b.definition(title, target)
}

// server returns the URL of the first server, with the defaults of its variables.
func (b *builder) server(place string, servers *doc.Node) string {
	var first *doc.Node
	if items := servers.Items(); len(items) > 0 {
		first = items[0]
	}
	address := b.fill(place+".0", first)
	if u, err := weburl.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsAny(address, " \t\r\n{}") {
		b.fail(place, "the first server must be an absolute http or https address")
	}
	return address
}

// fill returns the URL of a server with the defaults of its variables.
func (b *builder) fill(place string, server *doc.Node) string {
	address := server.Get("url").Text()
	size := len(address) // computed without building the URL
	for name, v := range server.Get("variables").Members() {
		if !b.spend(place) || name == "" {
			continue
		}
		spelt, value := "{"+name+"}", v.Get("default").Text()
		if size += strings.Count(address, spelt) * (len(value) - len(spelt)); size > maxAddress {
			break
		}
		address = strings.ReplaceAll(address, spelt, value)
	}
	if size > maxAddress {
		b.fail(place, "the address is longer than %d bytes", maxAddress)
		return ""
	}
	return address
}

// maxAddress is the maximum length in bytes of a URL with its variables filled in.
const maxAddress = 2048

// operation adds the field for one operation.
func (b *builder) operation(o oas.Operation) {
	r := b.root("Mutation")
	switch o.Method {
	case "GET":
		r = b.root("Query")
	case "HEAD", "OPTIONS", "TRACE":
		return // the responses have no content
	}
	place := below("paths", o.Path, strings.ToLower(o.Method))
	body, usable := b.body(place, o)
	if !usable || !b.spend(place) {
		return
	}
	name := o.ID()
	if name == "" {
		name = camel(strings.ToLower(o.Method), o.Path)
	}
	c := call{b: b, place: place, taken: newNames(false), query: doc.NewArray()}
	c.f.name = r.taken.take(valid(name))
	c.f.description = summary(o.Node)
	c.parameters(o)
	from, servers := "servers", b.document.Get("servers")
	if o.Node.Get("servers").Len() > 0 {
		from, servers = place+".servers", o.Node.Get("servers")
	} else if o.Item.Get("servers").Len() > 0 {
		from, servers = below("paths", o.Path, "servers"), o.Item.Get("servers")
	}
	// Parameters in the path without a description are texts.
	address := strings.TrimSuffix(b.server(from, servers), "/") + c.fill(o.Path)
	input, headers := "", doc.NewObject()
	if schema, ok := jsonContent(body.Get("content")); ok && b.err == nil {
		typ, null := b.typeOf(schema, use{place: place + ".requestBody", hint: camel("", c.f.name, "Input"), input: true}, 0)
		input = template(c.argument("input", nonNull(typ, null || !body.Get("required").True())))
		headers.Set("Content-Type", doc.NewString("application/json"))
	}
	c.f.typ = b.answer(place, c.f.name, o)
	config := doc.NewObject()
	config.Set("url", doc.NewString(address))
	config.Set("method", doc.NewString(o.Method))
	config.Set("headers", headers)
	config.Set("query", c.query)
	config.Set("body", doc.NewString(input))
	b.attach(place, r, c.f, "REST", config)
}

// summary returns the description of an operation for users.
func summary(o *doc.Node) string {
	if s := o.Get("summary").Text(); s != "" {
		return s
	}
	return o.Get("description").Text()
}

// body returns the request body of an operation, resolved; nil: none. usable is false if a
// body that is not JSON is required.
func (b *builder) body(place string, o oas.Operation) (body *doc.Node, usable bool) {
	body = o.Node.Get("requestBody")
	if o.Method == "GET" || body == nil {
		return nil, true
	}
	if body = oas.Resolve(b.document, body); body == nil {
		b.fail(place+".requestBody", "the reference leads nowhere within the document")
		return nil, false
	}
	if _, ok := jsonContent(body.Get("content")); !ok {
		return nil, !body.Get("required").True()
	}
	return body, true
}

// jsonContent returns the schema of the JSON part of a content.
func jsonContent(content *doc.Node) (schema *doc.Node, ok bool) {
	for mediaType, m := range content.Members() {
		name, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
		if name = strings.TrimSpace(name); name == "application/json" || name == "*/*" || name == "application/*" || strings.HasSuffix(name, "+json") {
			return m.Get("schema"), true
		}
	}
	return nil, false
}

// answer returns the type of a successful response. It may always be null, because the
// operation may fail.
func (b *builder) answer(place, field string, o oas.Operation) string {
	responses := o.Node.Get("responses")
	codes := slices.DeleteFunc(responses.Names(), func(s string) bool { return s != "default" && !strings.HasPrefix(s, "2") })
	slices.Sort(codes) // default comes last
	for _, code := range codes {
		place := below(place, "responses", code)
		response := oas.Resolve(b.document, responses.Get(code))
		if response == nil {
			b.fail(place, "the reference leads nowhere within the document")
			break
		}
		if schema, ok := jsonContent(response.Get("content")); ok {
			name, _ := b.typeOf(schema, use{place: place, hint: camel("", field, "Response")}, 0)
			return name
		}
		if code != "default" && response.Get("content").Len() == 0 {
			break // success without content
		}
	}
	return b.anything(use{})
}
