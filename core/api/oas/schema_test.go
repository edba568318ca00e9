package oas_test

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// schemaGenerator makes documents from the published schema of the extension; many of its
// values are empty.
type schemaGenerator struct {
	*generator
	definitions *doc.Node
	share       int // of the optional members, in per cent
}

// schemeDefinitions are the definitions of the schemes that natives declares.
var schemeDefinitions = [][2]string{
	{"token", "Token"}, {"jwt", "JWT"}, {"basic", "Basic"}, {"oauth", "OAuth"}, {"externalOAuth", "ExternalOAuth"}, {"oauth2", "OAuth2"},
}

// document returns a document that is usually valid.
func (g schemaGenerator) document() *doc.Node {
	d := doc.NewObject()
	d.Set("openapi", doc.NewString("3.0.3"))
	d.Put(doc.NewString("t"), "info", "title")
	d.Put(doc.NewString("1"), "info", "version")
	natives := g.natives(d)
	for _, requirement := range d.Get("security").Items() {
		for _, name := range requirement.Names() {
			if !strings.Contains(strings.ToLower(name), "oauth") {
				requirement.Set(name, doc.NewArray()) // other schemes have no scopes
			}
		}
	}
	ext := doc.NewObject()
	for _, part := range []string{"Info", "Upstream", "Server", "Middleware", "ErrorOverrides"} {
		ext.Set(strings.ToLower(part[:1])+part[1:], g.defined(part))
	}
	ext.Delete("middleware", "operations")
	for _, path := range []string{"/a", "/a/{id}", "/b/c"} {
		d.Put(g.pick(`[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}]`), "paths", "/a/{id}", "parameters")
		for _, method := range []string{"get", "post"} {
			d.Put(doc.NewString(method+path), "paths", path, method, "operationId")
			d.Put(doc.NewString("d"), "paths", path, method, "responses", "200", "description")
			if g.intN(3) > 0 {
				ext.Put(g.defined("Operation"), "middleware", "operations", method+path)
			}
		}
	}
	g.schemes(ext.Get("server", "authentication"), natives)
	d.Set(oas.ExtensionKey, ext)
	return d
}

// schemes adds entries for some of the schemes, and requirements of the extension.
func (g schemaGenerator) schemes(a *doc.Node, natives map[string]string) {
	if a == nil {
		return
	}
	a.Delete("securitySchemes")
	a.Delete("security")
	for _, s := range schemeDefinitions {
		if g.intN(3) > 0 {
			a.Put(g.defined(s[1]), "securitySchemes", natives[s[0]])
		}
	}
	a.Delete("securitySchemes", natives["oauth2"], "tokenExchange")
	if g.intN(4) == 0 {
		a.Set("security", g.pick(`[["my-jwt","hmac"]]`, `[["custom"],["my-basic","custom"]]`))
	}
}

// samples are texts for every pattern and format of the schema.
var samples = []string{"", "x", "http://a.example/x", "tcp://b.example:1", "0s", "2s", "1m30s", "1500ms", "1h", "d.example"}

func (g schemaGenerator) defined(name string) *doc.Node {
	return g.of(g.definitions.Get("X-Tyk-"+name), 0)
}

// of makes a value of a schema.
func (g schemaGenerator) of(s *doc.Node, depth int) *doc.Node {
	if ref := s.Get("$ref").Text(); ref != "" {
		return g.of(g.definitions.Get(strings.TrimPrefix(ref, "#/definitions/")), depth)
	}
	if enum := s.Get("enum").Items(); len(enum) > 0 {
		return enum[g.intN(len(enum))]
	}
	if list := s.Get("anyOf").Items(); s.Get("type") == nil && len(list) > 0 {
		return g.of(list[g.intN(len(list))], depth)
	}
	kind := s.Get("type").Text()
	for _, k := range s.Get("type").Texts() {
		kind = cmp.Or(kind, k)
	}
	switch kind {
	case "boolean":
		return doc.NewBool(g.intN(2) == 0)
	case "integer", "number":
		n := int64(g.intN(4))
		if most := s.Get("maximum"); most != nil {
			n = min(n, most.Int())
		}
		return doc.NewInt(max(n, s.Get("minimum").Int()))
	case "array":
		return g.list(s, depth)
	case "object":
		return g.object(s, depth)
	}
	return g.text(s)
}

func (g schemaGenerator) list(s *doc.Node, depth int) *doc.Node {
	out := doc.NewArray()
	for range max(int(s.Get("minItems").Int()), g.intN(3)) {
		if item := g.of(s.Get("items"), depth+1); !slices.ContainsFunc(out.Items(), item.Equal) {
			out.Append(item)
		}
	}
	return out
}

func (g schemaGenerator) object(s *doc.Node, depth int) *doc.Node {
	out := doc.NewObject()
	for name, member := range s.Get("properties").Members() {
		if slices.Contains(s.Get("required").Texts(), name) || g.intN(100) < g.share {
			out.Set(name, g.of(member, depth+1))
		}
	}
	for _, needs := range [][3]string{{"location", "location", "header"}, {"location", "key", "k"}, {"format", "body", "x"}, {"loadBalancing", "url", "http://u"}} {
		if s.Get("properties", needs[0]) != nil && s.Get("properties", needs[1]) != nil {
			out.Set(needs[1], doc.NewString(needs[2])) // dependencies between members
		}
	}
	if more := s.Get("additionalProperties"); more.Is(doc.TypeObject) && depth < 8 {
		for _, key := range []string{"401", "k"}[:g.intN(3)] {
			out.Set(key, g.of(more, depth+1))
		}
	}
	return out
}

func (g schemaGenerator) text(s *doc.Node) *doc.Node {
	pattern := regexp.MustCompile(s.Get("pattern").Text())
	not := regexp.MustCompile(cmp.Or(s.Get("not", "pattern").Text(), `^\x00$`))
	at := g.intN(len(samples))
	for i := range samples {
		sample := samples[(at+i)%len(samples)]
		address := s.Get("format").Text() != "uri" || strings.Contains(sample, "://")
		if address && pattern.MatchString(sample) && !not.MatchString(sample) {
			return doc.NewString(sample)
		}
	}
	return doc.NewString("")
}
