package theme

import (
	"maps"
	"slices"
	"strings"
	"text/template/parse"
)

// Bounds of the shape of templates. HTML escaping looks at the body of a range twice, and
// again for each range around it. For each < that may be text it reads the rest of the text.
const (
	maxRanges   = 6
	maxIncludes = 8
	maxSigns    = 200_000_000 // bytes that are read for the signs < of a theme
)

// Trees parses a template. It does not look up functions: Engines know them.
func (s Source) Trees() (map[string]*parse.Tree, error) {
	t, trees := parse.New(s.Name), map[string]*parse.Tree{}
	t.Mode = parse.SkipFuncCheck
	if _, err := t.Parse(s.Text, "", "", trees); err != nil {
		return nil, invalid("a template does not parse: %s", strings.TrimPrefix(err.Error(), "template: "))
	}
	return trees, nil
}

// Parse parses all templates of a theme. It refuses shapes that are too expensive, and
// templates that include themselves.
func (c Content) Parse() (map[string]*parse.Tree, error) {
	all, read := map[string]*parse.Tree{}, 0
	for _, s := range c.Sources() {
		trees, err := s.Trees()
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(trees)) {
			if depth(trees[name].Root) > maxRanges {
				return nil, invalid("%s: more than %d ranges lie in each other", quote(s.Name+Extension), maxRanges)
			}
			if s.HTML {
				read += signs(trees[name].Root)
			}
			if read > maxSigns {
				return nil, invalid("%s: the templates have too many < in long texts: divide the texts, or write &lt;", quote(s.Name+Extension))
			}
			if old := all[name]; old == nil || parse.IsEmptyTree(old.Root) {
				all[name] = trees[name]
			}
		}
	}
	return all, includes(all)
}

// signs returns the number of bytes that HTML escaping reads because of the signs < in the
// texts below a node.
func signs(n parse.Node) (read int) {
	if t, ok := n.(*parse.TextNode); ok {
		for i, c := range t.Text {
			if c == '<' {
				read += len(t.Text) - i
			}
		}
		return read
	}
	for _, below := range children(n) {
		read += signs(below)
	}
	if _, loop := n.(*parse.RangeNode); loop {
		read *= 2
	}
	return read
}

// walk calls fn for every node below n.
func walk(n parse.Node, fn func(parse.Node)) {
	if n == nil {
		return
	}
	fn(n)
	for _, below := range children(n) {
		walk(below, fn)
	}
}

func children(n parse.Node) (out []parse.Node) {
	list := func(l *parse.ListNode) {
		if l != nil {
			out = append(out, l.Nodes...)
		}
	}
	pipe := func(p *parse.PipeNode) {
		if p != nil {
			out = append(out, p)
		}
	}
	branch := func(b parse.BranchNode) { pipe(b.Pipe); list(b.List); list(b.ElseList) }
	switch n := n.(type) {
	case *parse.ListNode:
		list(n)
	case *parse.ActionNode:
		pipe(n.Pipe)
	case *parse.TemplateNode:
		pipe(n.Pipe)
	case *parse.IfNode:
		branch(n.BranchNode)
	case *parse.RangeNode:
		branch(n.BranchNode)
	case *parse.WithNode:
		branch(n.BranchNode)
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			out = append(out, c)
		}
	case *parse.CommandNode:
		out = append(out, n.Args...)
	case *parse.ChainNode:
		out = append(out, n.Node)
	}
	return out
}

// depth returns the number of nested ranges.
func depth(n parse.Node) int {
	most := 0
	for _, below := range children(n) {
		most = max(most, depth(below))
	}
	if _, loop := n.(*parse.RangeNode); loop {
		most++
	}
	return most
}

// includes refuses templates that include themselves, and chains that are too long.
func includes(all map[string]*parse.Tree) error {
	levels := map[string]int{} // -1: under way
	var level func(name string) (int, error)
	level = func(name string) (int, error) {
		switch n, known := levels[name]; {
		case known && n < 0:
			return 0, invalid("the template %s includes itself; use render, which has a bound", quote(name))
		case known:
			return n, nil
		}
		levels[name] = -1
		most := 0
		var wrong error
		if t := all[name]; t != nil {
			walk(t.Root, func(n parse.Node) {
				if call, ok := n.(*parse.TemplateNode); ok && wrong == nil {
					var below int
					below, wrong = level(call.Name)
					most = max(most, below+1)
				}
			})
		}
		if wrong == nil && most > maxIncludes {
			wrong = invalid("the template %s includes others more than %d levels deep", quote(name), maxIncludes)
		}
		levels[name] = most
		return most, wrong
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, err := level(name); err != nil {
			return err
		}
	}
	return nil
}

// maxBlocks is the maximum number of content blocks that the templates of a theme refer to.
const maxBlocks = 5000

// Entries returns the templates of the manifest with the blocks that they refer to.
func (c Content) Entries() (out []Entry, err error) {
	n := 0
	for _, t := range c.Templates {
		e := Entry{t, c.Blocks(t)}
		if n += len(e.Blocks); n > maxBlocks {
			return nil, invalid("the templates refer to more than %d blocks of content", maxBlocks)
		}
		out = append(out, e)
	}
	return out, nil
}

// Blocks returns the names of the content blocks that a template of the manifest refers to,
// itself or through the partials that it renders, in order of name.
func (c Content) Blocks(t Template) []string {
	names, seen := map[string]bool{}, map[string]bool{}
	var look func(file string)
	look = func(file string) {
		text, ok := c.Files[file+Extension]
		if !ok || seen[file] {
			return
		}
		seen[file] = true
		trees, err := Source{Name: file, Text: string(text)}.Trees()
		if err != nil {
			return // such a theme was refused at the upload
		}
		for _, tree := range trees {
			walk(tree.Root, func(n parse.Node) {
				if name := blockOf(n); name != "" {
					names[name] = true
				}
				if name := rendered(n); name != "" {
					look(c.Resolve(name))
				}
			})
		}
	}
	look(Views + t.Template)
	if t.Layout != "" {
		look(Layouts + t.Layout)
	}
	return slices.Sorted(maps.Keys(names))
}

// blockOf returns the name of the block that a node refers to: .blocks.Name, $.blocks.Name, or
// index .blocks "Name".
func blockOf(n parse.Node) string {
	switch n := n.(type) {
	case *parse.FieldNode:
		return second(n.Ident)
	case *parse.VariableNode:
		if n.Ident[0] == "$" {
			return second(n.Ident[1:])
		}
	case *parse.CommandNode:
		if len(n.Args) > 2 && n.Args[0].String() == "index" && strings.TrimPrefix(n.Args[1].String(), "$") == ".blocks" {
			if name, ok := n.Args[2].(*parse.StringNode); ok {
				return name.Text
			}
		}
	}
	return ""
}

func second(ident []string) string {
	if len(ident) > 1 && ident[0] == "blocks" {
		return ident[1]
	}
	return ""
}

// rendered returns the name of the template in a call of render.
func rendered(n parse.Node) string {
	if call, ok := n.(*parse.CommandNode); ok && len(call.Args) > 1 && call.Args[0].String() == "render" {
		if name, ok := call.Args[1].(*parse.StringNode); ok {
			return name.Text
		}
	}
	return ""
}

// Resolve returns the path of a template that is given to render: its path, or the name of a
// partial or a view.
func (c Content) Resolve(name string) string {
	for _, folder := range []string{"", Partials, Views} {
		if c.Has(folder + name) {
			return folder + name
		}
	}
	return name
}
