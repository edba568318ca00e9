package http

import (
	"fmt"
	nethttp "net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// router finds the handler for a path by its segments: at every segment a literal is tried
// before a placeholder, and a dead end backtracks. Unlike net/http.ServeMux it accepts
// /a/{x}/b next to /a/c/{y}.
type router struct {
	root node
	// lost answers requests that no row takes; allowed are the methods for the path, sorted.
	lost func(w nethttp.ResponseWriter, r *nethttp.Request, allowed []string)
}

type node struct {
	literal map[string]*node
	any     *node
	leaves  []leaf // few: one per method
	tails   []leaf // rows whose last placeholder takes the rest of a path
}

type leaf struct {
	method  string
	alone   bool // other methods get 404
	exact   bool // HEAD is not served as GET: no operation has it, or GET has effects that HEAD must not have
	names   []string
	handler nethttp.Handler
}

// handle adds a route. The last placeholder of a tail takes the rest of a path; every other
// matching pattern is tried first.
func (rt *router) handle(spec *operation.Spec, h nethttp.Handler) error {
	n, names := &rt.root, []string(nil)
	path, more := trim(spec.Path)
	for more {
		var seg string
		seg, path, more = strings.Cut(path, "/")
		name, open := operation.Placeholder(seg)
		if open {
			names = append(names, name)
		}
		if spec.Tail && !more {
			break
		}
		next := n.literal[seg]
		if open {
			next = n.any
		}
		if next == nil {
			next = &node{}
			switch {
			case open:
				n.any = next
			case n.literal == nil:
				n.literal = map[string]*node{seg: next}
			default:
				n.literal[seg] = next
			}
		}
		n = next
	}
	leaves := &n.leaves
	if spec.Tail {
		leaves = &n.tails
	}
	if at(*leaves, spec.Method) != nil {
		return fmt.Errorf("http: %s %s is already routed", spec.Method, spec.Path)
	}
	*leaves = append(*leaves, leaf{spec.Method, spec.Alone, isPortalAPI(spec.Path) || spec.Method == nethttp.MethodGet && spec.Intent == access.Write, names, h})
	return nil
}

// Paths is a set of the paths of operations.
type Paths struct{ router }

// Add adds the path of an operation.
func (p *Paths) Add(o operation.Operation) {
	_ = p.handle(&operation.Spec{Path: o.Path, Tail: o.Tail}, nethttp.NotFoundHandler()) // fails only if the path was added before
}

// Has reports whether an operation, with any method, is at the path of a request.
func (p *Paths) Has(r *nethttp.Request) bool {
	var s search // its method is "", as in the routes that Add adds
	path, more := trim(r.URL.EscapedPath())
	return s.find(&p.root, path, more) != nil
}

func at(leaves []leaf, method string) *leaf {
	for i := range leaves {
		if leaves[i].method == method {
			return &leaves[i]
		}
	}
	return nil
}

// ServeHTTP implements net/http.Handler.
func (rt *router) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	// A client whose base URL ends in a slash sends paths that begin with two. Rules, the
	// audit trail and logs find segments by position, so they see one slash as well. Later
	// double slashes stay: the empty segment may be an identifier that a script has lost.
	if strings.HasPrefix(r.URL.Path, "//") {
		r = r.Clone(r.Context())
		r.URL.Path = "/" + strings.TrimLeft(r.URL.Path, "/")
		if r.URL.RawPath != "" {
			r.URL.RawPath = "/" + strings.TrimLeft(r.URL.RawPath, "/")
		}
	}
	var few [4]string
	s := search{method: r.Method, values: few[:0]}
	path, more := trim(r.URL.EscapedPath())
	l := s.find(&rt.root, path, more)
	if l == nil {
		slices.Sort(s.allowed)
		rt.lost(w, r, slices.Compact(s.allowed))
		return
	}
	for i, name := range l.names {
		r.SetPathValue(name, s.values[i])
	}
	l.handler.ServeHTTP(w, r)
}

// search is the state of one path lookup.
type search struct {
	method  string
	values  []string // of the placeholders on the way
	allowed []string // methods of nodes that match except for the method
}

// find searches below n for path, the rest of the path, by its first segment; more is false at
// the end of the path.
func (s *search) find(n *node, path string, more bool) *leaf {
	if !more {
		return s.arrive(n.leaves)
	}
	seg, rest, more := strings.Cut(path, "/")
	if strings.Contains(seg, "%") {
		var err error
		if seg, err = url.PathUnescape(seg); err != nil {
			return nil
		}
	}
	if next := n.literal[seg]; next != nil {
		if l := s.find(next, rest, more); l != nil {
			return l
		}
	}
	if seg == "" {
		return nil
	}
	depth := len(s.values)
	if n.any != nil {
		s.values = append(s.values, seg)
		if l := s.find(n.any, rest, more); l != nil {
			return l
		}
		s.values = s.values[:depth]
	}
	if n.tails == nil {
		return nil
	}
	value, err := url.PathUnescape(path)
	if err != nil {
		return nil
	}
	s.values = append(s.values, value)
	return s.arrive(n.tails)
}

// arrive returns the leaf for the method. HEAD is GET without its body (RFC 9110, 9.3.2),
// except where a leaf is exact.
func (s *search) arrive(leaves []leaf) *leaf {
	l := at(leaves, s.method)
	if l == nil && s.method == nethttp.MethodHead {
		if l = at(leaves, nethttp.MethodGet); l != nil && l.exact {
			l = nil
		}
	}
	if l != nil {
		return l
	}
	for i := range leaves {
		if leaves[i].alone {
			continue
		}
		s.allowed = append(s.allowed, leaves[i].method)
		if leaves[i].method == nethttp.MethodGet && !leaves[i].exact {
			s.allowed = append(s.allowed, nethttp.MethodHead)
		}
	}
	return nil
}

// trim removes the first slash, and one trailing slash, from a path. more is false for the
// root, which has no segments.
func trim(path string) (rest string, more bool) {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
	return path, path != ""
}
