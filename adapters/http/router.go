package http

import (
	"fmt"
	nethttp "net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// router finds the handler of a path by its segments: at every segment a
// literal is tried before a placeholder, and a dead end backtracks. Unlike
// net/http.ServeMux it accepts /a/{x}/b next to /a/c/{y}.
type router struct {
	root node
	// lost answers what no row does; allowed are the methods that the path
	// knows, sorted.
	lost func(w nethttp.ResponseWriter, r *nethttp.Request, allowed []string)
}

type node struct {
	literal map[string]*node
	any     *node
	leaves  []leaf // few: one per method
	tails   []leaf // of rows whose last placeholder takes the rest of a path
}

type leaf struct {
	method  string
	names   []string
	handler nethttp.Handler
}

func (rt *router) handle(method, pattern string, h nethttp.Handler) error {
	n, names := rt.node(pattern)
	if at(n.leaves, method) != nil {
		return fmt.Errorf("http: %s %s is already routed", method, pattern)
	}
	n.leaves = append(n.leaves, leaf{method, names, h})
	return nil
}

// handleTail is handle for a pattern whose last placeholder takes the rest of a
// path. Every other pattern that fits is tried before.
func (rt *router) handleTail(method, pattern string, h nethttp.Handler) error {
	above, last := path.Split(pattern)
	name, _ := operation.Placeholder(last)
	n, names := rt.node(above)
	if at(n.tails, method) != nil {
		return fmt.Errorf("http: %s %s is already routed", method, pattern)
	}
	n.tails = append(n.tails, leaf{method, append(names, name), h})
	return nil
}

// node returns the node of a pattern, made if need be, and the names of the
// placeholders on the way.
func (rt *router) node(pattern string) (*node, []string) {
	n, names := &rt.root, []string(nil)
	for path, more := trim(pattern); more; {
		var seg string
		seg, path, more = strings.Cut(path, "/")
		if name, ok := operation.Placeholder(seg); ok {
			names = append(names, name)
		}
		n = n.grow(seg)
	}
	return n, names
}

// grow returns the node one segment below n, made if need be.
func (n *node) grow(seg string) *node {
	if _, ok := operation.Placeholder(seg); ok {
		if n.any == nil {
			n.any = &node{}
		}
		return n.any
	}
	if n.literal[seg] == nil {
		if n.literal == nil {
			n.literal = map[string]*node{}
		}
		n.literal[seg] = &node{}
	}
	return n.literal[seg]
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
	s := search{method: r.Method}
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

// search is one look for a path.
type search struct {
	method  string
	values  []string // of the placeholders on the way
	allowed []string // methods of nodes that fit but for the method
}

// find looks below n for the rest of a path; more is false at its end.
func (s *search) find(n *node, path string, more bool) *leaf {
	if !more {
		return s.arrive(n.leaves)
	}
	if l := s.step(n, path); l != nil || n.tails == nil || path[0] == '/' {
		return l
	}
	value, err := url.PathUnescape(path)
	if err != nil {
		return nil
	}
	s.values = append(s.values, value)
	return s.arrive(n.tails)
}

// step looks below n by the first segment of a path.
func (s *search) step(n *node, path string) *leaf {
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
	if n.any == nil || seg == "" {
		return nil
	}
	depth := len(s.values)
	s.values = append(s.values, seg)
	if l := s.find(n.any, rest, more); l != nil {
		return l
	}
	s.values = s.values[:depth]
	return nil
}

// arrive returns the leaf for the method; HEAD is GET without its body
// (RFC 9110, 9.3.2).
func (s *search) arrive(leaves []leaf) *leaf {
	l := at(leaves, s.method)
	if l == nil && s.method == nethttp.MethodHead {
		l = at(leaves, nethttp.MethodGet)
	}
	if l != nil {
		return l
	}
	for i := range leaves {
		s.allowed = append(s.allowed, leaves[i].method)
		if leaves[i].method == nethttp.MethodGet {
			s.allowed = append(s.allowed, nethttp.MethodHead)
		}
	}
	return nil
}

// trim takes the first slash, and one last slash, off a path. more is false for
// the root, which has no segments.
func trim(path string) (rest string, more bool) {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
	return path, path != ""
}
