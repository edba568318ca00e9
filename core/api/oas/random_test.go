package oas_test

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// generator makes documents from the table: any members, with values of the right type or
// sometimes of a wrong one.
type generator struct {
	state  uint64
	rows   []oas.Row
	broken bool
}

func newGenerator(seed uint64, broken bool) *generator {
	return &generator{seed, oas.Table(), broken}
}

// intN returns a number below n that depends on the seed only (splitmix64).
func (g *generator) intN(n int) int {
	g.state += 0x9e3779b97f4a7c15
	z := g.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// document returns a document with about share per cent of the table.
func (g *generator) document(share int) *doc.Node {
	d := doc.NewObject()
	d.Put(doc.NewString("3.0.3"), "openapi")
	d.Put(doc.NewString("t"), "info", "title")
	natives := g.natives(d)
	for _, path := range []string{"/a", "/a/{id}", "/b/c"} {
		for _, method := range []string{"get", "post"} {
			d.Put(doc.NewString(method+path), "paths", path, method, "operationId")
		}
	}
	for _, r := range g.rows {
		if g.intN(100) >= share {
			continue
		}
		path := r.Ext
		for kind, name := range natives {
			path = strings.Replace(path, "<"+kind+">", "server.authentication.securitySchemes."+name, 1)
		}
		path = strings.Replace(path, "<eventHandler."+g.event()+">.", "server.eventHandlers[].", 1)
		if !strings.HasPrefix(path, "<") {
			g.put(d.Get(), strings.Split(oas.ExtensionKey+"."+path, "."), r)
		}
	}
	return d
}

func (g *generator) event() string { return []string{"webhook", "custom", "log"}[g.intN(3)] }

// natives declares schemes, and names them in requirements.
func (g *generator) natives(d *doc.Node) map[string]string {
	texts := map[string]string{
		"token": `{"type":"apiKey","in":"query","name":"k"}`, "jwt": `{"type":"http","scheme":"bearer","bearerFormat":"JWT"}`,
		"basic": `{"type":"http","scheme":"basic"}`, "oauth": `{"type":"oauth2","flows":{"password":{"tokenUrl":"/t","scopes":{"a":"b"}}}}`,
		"externalOAuth": `{"type":"oauth2","flows":{}}`, "oauth2": `{"type":"oauth2","flows":{}}`,
	}
	names := map[string]string{}
	security := doc.NewArray()
	for _, kind := range []string{"token", "jwt", "basic", "oauth", "externalOAuth", "oauth2"} {
		names[kind] = "my-" + kind
		native, _ := doc.ParseNode([]byte(texts[kind]))
		d.Put(native, "components", "securitySchemes", names[kind])
		if requirement := doc.NewObject(); g.intN(3) > 0 {
			requirement.Set(names[kind], doc.NewStrings([]string{"s"}))
			if g.intN(3) == 0 {
				requirement.Set("my-jwt", doc.NewArray())
			}
			security.Append(requirement)
		}
	}
	if g.intN(8) > 0 {
		d.Set("security", security)
	}
	return names
}

// put sets a value at a path of the table, and adds an element to lists and maps.
func (g *generator) put(n *doc.Node, path []string, r oas.Row) {
	if !n.Is(doc.TypeObject) {
		return
	}
	name, isList := strings.CutSuffix(path[0], "[]")
	if name == "*" {
		name = g.key()
	}
	if len(path) == 1 && !isList {
		n.Set(name, g.value(r.Type))
		return
	}
	next := n.Get(name)
	switch {
	case isList:
		if !next.Is(doc.TypeArray) {
			next = doc.NewArray()
			n.Set(name, next)
		}
		if next.Len() == 0 || g.intN(8) == 0 {
			next.Append(doc.NewObject())
		}
		next = next.Items()[next.Len()-1]
	case !next.Is(doc.TypeObject):
		next = doc.NewObject()
		n.Set(name, next)
	}
	g.put(next, path[1:], r)
}

// key returns a name for maps: an operation of the document, or another text.
func (g *generator) key() string {
	return []string{"get/a", "post/a", "get/a/{id}", "post/b/c", "401", "ghost", ""}[g.intN(7)]
}

func (g *generator) value(kind string) *doc.Node {
	if g.broken && g.intN(5) == 0 {
		kind = []string{"string", "bool", "int", "number", "[string]", "map<any>", "null", "huge"}[g.intN(8)]
	}
	switch kind {
	case "bool":
		return doc.NewBool(g.intN(2) == 0)
	case "int":
		return doc.NewInt(int64(g.intN(9)))
	case "number":
		return doc.NewFloat(float64(g.intN(9)) / 4)
	case "duration":
		return g.pick(`"1500ms"`, `"2s"`, `"1h1m"`, `""`, `"0s"`, `"soon"`, `"-1s500ms"`, `"7ns"`)
	case "[string]":
		return g.pick(`["a","b"]`, `[]`, `["a"]`)
	case "[int]":
		return g.pick(`[200,404]`, `[]`)
	case "[any]":
		return g.pick(`[["my-jwt","hmac"]]`, `[["custom"]]`, `[]`)
	case "map<string>", "map<any>":
		return g.pick(`{"k":"v"}`, `{}`)
	case "null":
		return doc.NewNull()
	case "huge":
		return g.pick(`1e400`, `-1e30`, `9223372036854775808`, `1.5`, `[1,{"a":1e999}]`)
	}
	return g.pick(`""`, `"x"`, `"compliant"`, `"webhook"`, `"custom"`, `"log"`, `"query"`, `"header"`, `"requestBody"`, `"1.2"`, `"QuotaExceeded"`, `"http://n/x"`)
}

func (g *generator) pick(texts ...string) *doc.Node {
	n, err := doc.ParseNode([]byte(texts[g.intN(len(texts))]))
	if err != nil {
		panic(err)
	}
	return n
}
