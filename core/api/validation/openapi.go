package validation

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// OpenAPI checks the rules of the OpenAPI Specification (3.0.4, 3.1.2) that a JSON schema
// cannot express, because they concern several parts of a document: unique names, path
// parameters, server variables, references.
func OpenAPI(d *doc.Node) []Problem {
	p := problems{}
	p.filled("info", d.Get("info"), "title", "version")
	if license := d.Get("info", "license"); license != nil {
		p.filled("info.license", license, "name")
	}
	p.servers("servers", d.Get("servers"))
	p.paths(d)
	p.schemes(d.Get("components", "securitySchemes"))
	w := walk{problems: &p, root: d, circles: map[string]bool{}, old: strings.HasPrefix(d.Get("openapi").Text(), "3.0")}
	w.explained(d)
	for name, part := range d.Members() {
		if !strings.HasPrefix(name, "x-") {
			w.enter(name, part, slices.Contains(namesInside, name))
		}
	}
	return p
}

// filled requires members to be non-empty texts.
func (p *problems) filled(field string, n *doc.Node, members ...string) {
	for _, name := range members {
		if n.Get(name).Text() == "" {
			p.add(at(field, name), "must not be empty")
		}
	}
}

// servers requires the variables of a URL to be exactly the declared ones.
func (p *problems) servers(field string, list *doc.Node) {
	for i, server := range list.Items() {
		f := at(field, i)
		address := server.Get("url").Text()
		names, ok := variables(address)
		named := setOf(names)
		switch {
		case address == "":
			p.add(f+".url", "must not be empty")
		case !ok:
			p.add(f+".url", "has braces that do not match")
		}
		for _, name := range names {
			if server.Get("variables", name) == nil {
				p.add(f+".url", "has a variable %s that is not declared", doc.Short(name))
			}
		}
		for name, v := range server.Get("variables").Members() {
			if !named[name] {
				p.add(at(f, "variables", name), "is no variable of the address")
			}
			p.filled(at(f, "variables", name), v, "default")
		}
	}
}

// variable is a {name} in a text.
var variable = regexp.MustCompile(`\{[^}]*\}`)

// variables returns the {names} in a text; ok says that the braces match.
func variables(text string) (names []string, ok bool) {
	for {
		_, rest, found := strings.Cut(text, "{")
		if !found {
			return names, !strings.Contains(text, "}")
		}
		name, rest, found := strings.Cut(rest, "}")
		if !found {
			return names, false
		}
		names, text = append(names, name), rest
	}
}

// methods are the operations that a path may have.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// paths checks what the operations of a document must not share.
func (p *problems) paths(d *doc.Node) {
	ids, patterns := map[string]bool{}, map[string]bool{}
	for path, item := range d.Get("paths").Members() {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		field := at("paths", path)
		names, _ := variables(path)
		pattern := variable.ReplaceAllString(path, "{}")
		if patterns[pattern] {
			p.add(field, "is the same as another path but for the names of parameters")
		}
		patterns[pattern] = true
		p.servers(field+".servers", item.Get("servers"))
		shared := p.parameters(d, field+".parameters", item.Get("parameters"))
		for _, method := range methods {
			op := item.Get(method)
			if !op.Is(doc.TypeObject) {
				continue
			}
			f := at(field, method)
			if id := op.Get("operationId").Text(); id != "" {
				if ids[id] {
					p.add(f+".operationId", "is taken by another operation")
				}
				ids[id] = true
			}
			p.servers(f+".servers", op.Get("servers"))
			own := p.parameters(d, f+".parameters", op.Get("parameters"))
			p.pathParameters(f, names, append(own, shared...))
		}
	}
}

// parameters checks a list of parameters and returns the names of those in the path.
func (p *problems) parameters(d *doc.Node, field string, list *doc.Node) (inPath []string) {
	seen := map[[2]string]bool{}
	for i, parameter := range list.Items() {
		parameter = oas.Resolve(d, parameter)
		key := [2]string{parameter.Get("in").Text(), parameter.Get("name").Text()}
		if key[1] == "" && parameter != nil {
			p.add(at(field, i, "name"), "must not be empty")
		}
		if seen[key] && parameter != nil {
			p.add(at(field, i), "has the place and name of another parameter")
		}
		seen[key] = true
		if key[0] == "path" {
			inPath = append(inPath, key[1])
		}
	}
	return inPath
}

// pathParameters requires exactly the parameters of a path template to be declared.
func (p *problems) pathParameters(field string, template, declared []string) {
	known, has := setOf(declared), setOf(template)
	for _, whole := range template {
		// A trailing * and a pattern are for gateways only.
		name, _, _ := strings.Cut(whole, ":")
		plain := strings.TrimSuffix(name, "*")
		if has[plain] = true; !known[plain] && !known[whole] {
			p.add(field, "does not declare the path parameter %s", doc.Short(plain))
		}
	}
	for _, name := range declared {
		if !has[name] {
			p.add(field, "declares a path parameter %s that the path does not have", doc.Short(name))
		}
	}
}

func setOf(list []string) map[string]bool {
	out := make(map[string]bool, len(list))
	for _, s := range list {
		out[s] = true
	}
	return out
}

// token matches the name of a header (RFC 9110, 5.6.2).
var token = regexp.MustCompile("^[-!#$%&'*+.^_`|~0-9A-Za-z]+$")

// schemes requires security schemes to be complete.
func (p *problems) schemes(list *doc.Node) {
	for name, scheme := range list.Members() {
		if scheme.Get("$ref") != nil {
			continue
		}
		field := at("components.securitySchemes", name)
		switch scheme.Get("type").Text() {
		case "apiKey":
			p.filled(field, scheme, "name")
		case "http":
			if !token.MatchString(scheme.Get("scheme").Text()) {
				p.add(field+".scheme", "must be a name of RFC 9110, 11.1, such as bearer")
			}
		case "openIdConnect":
			p.filled(field, scheme, "openIdConnectUrl")
		case "oauth2":
			for kind, flow := range scheme.Get("flows").Members() {
				switch kind {
				case "implicit":
					p.filled(at(field, "flows", kind), flow, "authorizationUrl")
				case "password", "clientCredentials":
					p.filled(at(field, "flows", kind), flow, "tokenUrl")
				case "authorizationCode":
					p.filled(at(field, "flows", kind), flow, "authorizationUrl", "tokenUrl")
				}
			}
		}
	}
}
