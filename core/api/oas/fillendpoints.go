package oas

import (
	"encoding/base64"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// fillEndpoints writes the endpoint lists as blocks of operations. Operations and blocks
// without an entry stay (docs/wire/conversion.md#fill-endpoints).
func fillEndpoints(d, ext, c *doc.Node) {
	lists, known := mainVersion(c).Get("extended_paths"), EndpointsOf(d)
	for i := range endpoints {
		m := &endpoints[i]
		for _, entry := range lists.Get(m.list).Items() {
			method := entry.Get("method").Text()
			if !slices.Contains(methods, strings.ToLower(method)) {
				continue // OpenAPI does not have this operation
			}
			id, operation := known.Endpoint(entry.Get("path").Text(), method)
			settings := object(ext, "middleware", "operations", id)
			if m.list == "white_list" && replies(entry) {
				continue
			}
			m.fill(settings, entry)
			switch m.list {
			case "mock_response":
				answer(operation, settings, entry)
			case "validate_json":
				requireBody(operation, entry)
			}
		}
	}
	for _, settings := range ext.Get("middleware", "operations").Members() {
		if !settings.Is(doc.TypeObject) {
			continue
		}
		operationLayout.tidy(settings)
		// Function names move to their current member.
		for _, block := range slices.Concat(settings.Get("postPlugins").Items(), []*doc.Node{settings.Get("virtualEndpoint")}) {
			if name := block.Get("name"); name.Text() != "" && block.Get("functionName").Text() == "" {
				block.Set("functionName", name)
				block.Delete("name")
			}
		}
	}
}

// object returns the object at a path, and creates it if it is missing.
func object(n *doc.Node, path ...string) *doc.Node {
	if !n.Get(path...).Is(doc.TypeObject) {
		n.Put(doc.NewObject(), path...)
	}
	return n.Get(path...)
}

// replies reports whether an entry of the allow list responds itself: then it is a mock.
func replies(entry *doc.Node) bool {
	for _, action := range entry.Get("method_actions").Members() {
		if action.Get("action").Text() == "reply" {
			return true
		}
	}
	return false
}

func (m *middleware) fill(settings, entry *doc.Node) {
	block := settings.Get(m.block)
	var others []*doc.Node
	if m.isList {
		if list := block.Items(); len(list) > 0 {
			block, others = list[0], list[1:]
		}
	}
	if !block.Is(doc.TypeObject) {
		block = doc.NewObject()
	}
	block = block.Clone()
	m.section.fill(block, entry)
	switch nothing := m.section.layout.compact(block); {
	case m.isList:
		assign(settings, doc.NewArray(append([]*doc.Node{block}, others...)...), m.block)
	case nothing && !m.stays:
		settings.Delete(m.block)
	default:
		assign(settings, block, m.block)
	}
}

// mockResponse: rule mock, the part about the extension.
var mockResponse = hook{
	fill: func(ext, c *doc.Node) {
		assign(ext, doc.NewBool(!c.Get("disabled").True()), "enabled")
		assignOrDrop(ext, readWhole(c.Get("code")), "code")
		assignOrDrop(ext, doc.NewString(c.Get("body").Text()), "body")
		headers := doc.NewObject()
		for name, value := range c.Get("headers").Members() {
			headers.Set(textproto.CanonicalMIMEHeaderKey(name), read(value, text))
		}
		assignOrDrop(ext, mockHeaders.toPairs(ext.Get("headers"), headers), "headers")
	},
}

var mockHeaders = &sequence{key: "name", value: "value"}

// answer makes an operation respond with a mock.
func answer(operation, settings, entry *doc.Node) {
	responses := object(operation, "responses")
	assign(responses, description(), strconv.FormatInt(readWhole(entry.Get("code")).Int(), 10))
	responses.Delete("default")
	if settings.Get("ignoreAuthentication") == nil && !settings.Get("mockResponse", "fromOASExamples").Is(doc.TypeObject) {
		settings.Put(doc.NewBool(true), "ignoreAuthentication", "enabled")
	}
	if settings.Get("mockResponse") == nil { // an empty response is still a response
		settings.Put(doc.NewBool(false), "mockResponse", "enabled")
		settings.Put(doc.NewBool(false), "mockResponse", "fromOASExamples", "enabled")
	}
}

// requireBody sets the schema of the operation's body to that of the entry.
func requireBody(operation, entry *doc.Node) {
	schema := entry.Get("schema")
	if !schema.Is(doc.TypeObject) || schema.Len() == 0 {
		text, err := base64.StdEncoding.DecodeString(entry.Get("schema_b64").Text())
		if err != nil {
			return
		}
		if schema, err = doc.ParseNode(text); err != nil || !schema.Is(doc.TypeObject) {
			return
		}
	}
	if operation.Get("requestBody", "$ref") != nil {
		operation.Set("requestBody", doc.NewObject())
	}
	content := doc.NewObject()
	content.Put(schema.Clone(), "application/json", "schema")
	assign(operation, content, "requestBody", "content")
}
