package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// said is what the program says with a code: the kind of the fault, and its text,
// in which … stands for what differs from case to case.
type said struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// faults reads what the program says with each code out of the calls that make
// faults, so that the API description has the texts that are answered. A code whose
// end is not known before has a * there.
func faults(root string) ([]byte, error) {
	s := &sources{files: token.NewFileSet(), consts: map[string]map[string]constant{}, helpers: map[string]helper{}}
	var all []source
	for _, folder := range []string{"core", "ports", "adapters", "app"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || d.Name() == samples {
				return err
			}
			f, err := parser.ParseFile(s.files, name, nil, 0)
			if err != nil {
				return err
			}
			dir, err := filepath.Rel(root, filepath.Dir(name))
			if err != nil {
				return err
			}
			all = append(all, s.add(filepath.ToSlash(dir), f))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	texts := map[string][]said{}
	for _, f := range all {
		s.helpersOf(f)
	}
	for _, f := range all {
		ast.Inspect(f.file, func(n ast.Node) bool {
			s.told(f, n, func(code string, t said) {
				if !slices.Contains(texts[code], t) {
					texts[code] = append(texts[code], t)
				}
			})
			return true
		})
	}
	out, err := json.MarshalIndent(texts, "", "\t")
	return append(out, '\n'), err
}

// sources are the files of the program and the constants of its packages.
type sources struct {
	files   *token.FileSet
	consts  map[string]map[string]constant // by folder and name
	helpers map[string]helper              // by folder, a dot and name
}

// constant is the value of a constant, as the file that declares it writes it.
type constant struct {
	value ast.Expr
	in    source
}

// helper is a function that makes faults of its arguments.
type helper struct {
	params []string
	calls  []*ast.CallExpr // of fault.New
	in     source
}

// helpersOf finds the functions of a file that make a fault.
func (s *sources) helpersOf(f source) {
	keep := func(name string, t *ast.FuncType, body *ast.BlockStmt) {
		h := helper{in: f}
		for _, field := range t.Params.List {
			for _, p := range field.Names {
				h.params = append(h.params, p.Name)
			}
		}
		ast.Inspect(body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && named(call.Fun, "fault", "New") && len(h.params) > 0 {
				h.calls = append(h.calls, call)
				s.helpers[f.dir+"."+name] = h
			}
			return true
		})
	}
	ast.Inspect(f.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && n.Body != nil {
				keep(n.Name.Name, n.Type, n.Body)
			}
		case *ast.AssignStmt:
			for i, e := range n.Rhs {
				if fn, ok := e.(*ast.FuncLit); ok && i < len(n.Lhs) {
					if name, ok := n.Lhs[i].(*ast.Ident); ok {
						keep(name.Name, fn.Type, fn.Body)
					}
				}
			}
		}
		return true
	})
}

// source is one file, and the folders of what it imports by the names in it.
type source struct {
	dir     string
	file    *ast.File
	imports map[string]string
	args    map[string]string // values of the parameters of a helper
}

const module = "github.com/gatehouse-io/gatehouse/"

func (s *sources) add(dir string, f *ast.File) source {
	out := source{dir, f, map[string]string{}, nil}
	for _, i := range f.Imports {
		if at, err := strconv.Unquote(i.Path.Value); err == nil && strings.HasPrefix(at, module) {
			name := path.Base(at)
			if i.Name != nil {
				name = i.Name.Name
			}
			out.imports[name] = strings.TrimPrefix(at, module)
		}
	}
	if s.consts[dir] == nil {
		s.consts[dir] = map[string]constant{}
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v, ok := spec.(*ast.ValueSpec)
			for i, name := range v.Names {
				if ok && i < len(v.Values) {
					s.consts[dir][name.Name] = constant{v.Values[i], out}
				}
			}
		}
	}
	return out
}

// told reads a call of fault.New, or all that a helper makes.
func (s *sources) told(f source, n ast.Node, tell func(string, said)) {
	call, _ := n.(*ast.CallExpr)
	if call == nil {
		return
	}
	if name, isName := call.Fun.(*ast.Ident); isName {
		if h := s.helpers[f.dir+"."+name.Name]; h.calls != nil {
			inside := h.in
			inside.args = map[string]string{}
			for i, p := range h.params {
				if i < len(call.Args) {
					inside.args[p] = s.text(f, call.Args[i])
				}
			}
			for _, made := range h.calls {
				s.told(inside, made, tell)
			}
			return
		}
	}
	if code, t, ok := s.fault(f, call); ok {
		tell(code, t)
	}
}

// fault reads a call of fault.New.
func (s *sources) fault(f source, call *ast.CallExpr) (code string, t said, ok bool) {
	if len(call.Args) < 3 || !named(call.Fun, "fault", "New") {
		return "", t, false
	}
	kind, isKind := call.Args[0].(*ast.SelectorExpr)
	if code = strings.Replace(s.text(f, call.Args[1]), unknown+".", unknown, 1); !isKind || code == "" || code == unknown {
		return "", t, false
	}
	format := s.text(f, call.Args[2])
	if format == "%s" && len(call.Args) == 4 {
		format = s.text(f, call.Args[3])
	}
	t = said{snake(kind.Sel.Name), verbs.ReplaceAllStringFunc(strings.ReplaceAll(format, unknown, differs), func(verb string) string {
		if verb == "%%" {
			return "%"
		}
		return differs
	})}
	return strings.ReplaceAll(code, unknown, "*"), t, t.Text != differs
}

// samples is the file whose faults only the description has.
const samples = "openapi_errors.go"

const (
	unknown = "\x00" // a part of a text that is not known before
	differs = "…"
)

var verbs = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z%]`)

// text returns the value of a text, with unknown in place of what is no constant.
func (s *sources) text(f source, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if v, err := strconv.Unquote(e.Value); err == nil {
			return v
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return s.text(f, e.X) + s.text(f, e.Y)
		}
	case *ast.Ident:
		if v, is := f.args[e.Name]; is {
			return v
		}
		if c := s.consts[f.dir][e.Name]; c.value != nil {
			return s.text(c.in, c.value)
		}
	case *ast.SelectorExpr:
		pkg, ok := e.X.(*ast.Ident)
		if ok && f.imports[pkg.Name] != "" {
			if c := s.consts[f.imports[pkg.Name]][e.Sel.Name]; c.value != nil {
				return s.text(c.in, c.value)
			}
		}
	}
	return unknown
}

func named(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// snake writes NotFound as not_found.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		fmt.Fprint(&b, string(unicode.ToLower(r)))
	}
	return b.String()
}
