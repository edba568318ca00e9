package datagraph

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// call describes how gateways call an operation for a field.
type call struct {
	b     *builder
	place string
	f     field
	taken *names            // of arguments
	path  map[string]string // arguments by path parameter
	query *doc.Node
}

// template is the placeholder for the value of an argument.
func template(argument string) string { return "{{.arguments." + argument + "}}" }

// argument adds an argument and returns its name.
func (c *call) argument(name, typ string) string {
	if !c.b.spend(c.place) {
		return ""
	}
	name = c.taken.take(valid(name))
	c.f.args = append(c.f.args, field{name: name, typ: typ})
	return name
}

// parameters adds the parameters of the path and of the query. Those of the operation replace
// those of the path item.
func (c *call) parameters(o oas.Operation) {
	c.path = map[string]string{}
	at, list := map[[2]string]int{}, []*doc.Node{}
	described := append(slices.Clone(o.Item.Get("parameters").Items()), o.Node.Get("parameters").Items()...)
	c.b.look(c.place, 4*len(described)) // each is looked up by place and name
	for _, p := range described {
		if c.b.err != nil {
			return
		}
		p = oas.Resolve(c.b.document, p)
		if p == nil {
			c.b.fail(c.place+".parameters", "the reference leads nowhere within the document")
			return
		}
		id := [2]string{p.Get("in").Text(), p.Get("name").Text()}
		if i, ok := at[id]; ok {
			list[i] = p
			continue
		}
		at[id] = len(list)
		list = append(list, p)
	}
	for _, p := range list {
		in, name := p.Get("in").Text(), p.Get("name").Text()
		if in != "path" && in != "query" || name == "" || c.b.err != nil {
			continue // headers and cookies of the client are passed on
		}
		u := use{place: below(c.place, "parameters", name), hint: camel(c.f.name, name), input: true, flat: true}
		typ, _ := c.b.typeOf(p.Get("schema"), u, 0)
		if in == "path" {
			if strings.HasPrefix(typ, "[") {
				typ = "String"
			}
			c.path[name] = c.argument(name, typ+"!")
			continue
		}
		if strings.HasPrefix(typ, "[[") {
			typ = "String"
		}
		v := doc.NewObject()
		v.Set("name", doc.NewString(name))
		v.Set("value", doc.NewString(template(c.argument(name, nonNull(typ, !p.Get("required").True())))))
		c.query.Append(v)
	}
}

// fill replaces parameters in a text with arguments: /pets/{petId} becomes
// /pets/{{.arguments.petId}}.
func (c *call) fill(text string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{")
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed || c.b.err != nil {
			out.WriteString(text)
			return out.String()
		}
		if _, known := c.path[name]; !known {
			c.path[name] = c.argument(name, "String!")
		}
		out.WriteString(before + template(c.path[name]))
		text = after
	}
}
