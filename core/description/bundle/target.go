package bundle

import (
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// target is a place in a file, used as an object of a kind.
type target struct {
	file, pointer string
	kind          kind
}

func (t target) spot() spot {
	s := spot{file: t.file}
	if t.pointer != "" {
		s.path = steps(t.pointer)
	}
	return s
}

// steps returns the steps of a JSON pointer (RFC 6901).
func steps(pointer string) []string {
	all := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, s := range all {
		all[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	return all
}

// relative returns the path of a file that another one refers to.
func relative(from, file string) string {
	if file == "" {
		return from
	}
	return path.Join(path.Dir(from), file)
}

// resolve returns the target of a reference. It follows references that lead only to another
// reference.
func (j *joiner) resolve(ref string, k kind, at spot) (target, *doc.Node, error) {
	first := at
	for range MaxDepth {
		t, n, err := j.find(ref, k, at)
		if err != nil {
			return t, nil, err
		}
		next, again := reference(n)
		if !again || n.Len() > 1 {
			return t, n, nil
		}
		ref, at = next, t.spot().in("$ref")
	}
	return target{}, nil, first.refuse("it leads to nothing but references")
}

// find returns the place to which a reference leads.
func (j *joiner) find(ref string, k kind, at spot) (target, *doc.Node, error) {
	u, err := url.Parse(ref)
	switch {
	case err != nil:
		return target{}, nil, at.refuse("%q is no address", ref)
	case u.Scheme != "" || u.Host != "" || u.RawQuery != "":
		return target{}, nil, at.refuse("%q is not in the archive", ref)
	case u.Fragment != "" && u.Fragment[0] != '/':
		return target{}, nil, at.refuse("%q: only JSON pointers are understood after #", ref)
	}
	t := target{relative(at.file, u.Path), u.Fragment, k}
	n, there := j.files[t.file]
	switch {
	case path.IsAbs(u.Path) || t.file == ".." || strings.HasPrefix(t.file, "../"):
		return t, nil, at.refuse("%q leaves the archive", ref)
	case !there:
		return t, nil, at.refuse("%q: there is no file %q in JSON or YAML", ref, t.file)
	}
	if t.pointer != "" {
		n = j.descend(n, steps(t.pointer))
	}
	if n == nil {
		return t, nil, at.refuse("%q: the file has no such place", ref)
	}
	return t, n, nil
}

// descend follows the steps of a pointer.
func (j *joiner) descend(n *doc.Node, path []string) *doc.Node {
	for _, step := range path {
		if n.Is(doc.TypeArray) {
			items, known := j.arrays[n]
			if !known {
				items = n.Items()
				j.arrays[n] = items
			}
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(items) {
				return nil
			}
			n = items[i]
			continue
		}
		if n = n.Get(step); n == nil {
			return nil
		}
	}
	return n
}
