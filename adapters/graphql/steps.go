package graphql

import "github.com/vektah/gqlparser/v2/ast"

// steps returns an upper bound for the comparisons that checking a schema takes. The
// library searches lists for each name: a text whose lists are long, or are often
// compared with each other, would take far longer than its length suggests.
func steps(d *ast.SchemaDocument) int {
	w := weights{fields: map[string]int{}, possible: map[string]int{}, arguments: map[string]int{}}
	for _, list := range []ast.DefinitionList{d.Definitions, d.Extensions} {
		for _, def := range list {
			w.fields[def.Name] += len(def.Fields) + len(def.EnumValues) + len(def.Interfaces)
			for _, f := range def.Fields {
				w.fields[def.Name] += len(f.Arguments)
			}
			w.possible[def.Name] += len(def.Types)
			for _, name := range def.Interfaces {
				w.possible[name]++
			}
		}
	}
	for _, def := range d.Directives {
		w.arguments[def.Name] += len(def.Arguments) + len(def.Locations)
	}
	total := 0
	for _, list := range []ast.SchemaDefinitionList{d.Schema, d.SchemaExtension} {
		for _, s := range list {
			total += w.directives(s.Directives)
		}
	}
	for _, n := range w.possible {
		w.most = max(w.most, n)
		total += square(n)
	}
	for _, n := range w.fields {
		total += square(n)
	}
	for _, list := range []ast.DefinitionList{d.Definitions, d.Extensions} {
		for _, def := range list {
			total += w.definition(def)
		}
	}
	for _, def := range d.Directives {
		total += square(len(def.Arguments)) + w.directives(def.Directives)
		for _, a := range def.Arguments {
			total += w.directives(a.Directives)
		}
	}
	return total
}

// weights are the lengths of the lists that are searched.
type weights struct {
	fields    map[string]int // of a type with its extensions; arguments, values and interfaces count
	possible  map[string]int // how many types a type can stand for
	most      int            // of these
	arguments map[string]int // of a directive
}

func (w weights) definition(def *ast.Definition) int {
	n := w.directives(def.Directives)
	for _, name := range def.Interfaces {
		n += w.fields[name] * (w.fields[def.Name] + w.most)
	}
	for _, f := range def.Fields {
		n += w.directives(f.Directives)
		for _, a := range f.Arguments {
			n += w.directives(a.Directives)
		}
	}
	for _, v := range def.EnumValues {
		n += w.directives(v.Directives)
	}
	return n
}

// directives returns the cost of comparing the arguments of directives with their
// definitions.
func (w weights) directives(list ast.DirectiveList) (n int) {
	for _, d := range list {
		n += square(len(d.Arguments) + w.arguments[d.Name])
	}
	return n
}

// square bounds its result, so that sums do not overflow.
func square(n int) int { return min(n, 1<<20) * min(n, 1<<20) }
