package bundle

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// spot is a place in a file.
type spot struct {
	file string
	path []string
}

func (s spot) in(steps ...string) spot {
	return spot{s.file, append(slices.Clip(s.path), steps...)}
}

// pointer returns the path as a JSON pointer (RFC 6901).
func pointer(path []string) string {
	var b strings.Builder
	for _, step := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step))
	}
	return b.String()
}

// fault adds the spot to an error.
func (s spot) fault(err error) error { return fmt.Errorf("%s, #%s: %w", s.file, pointer(s.path), err) }

func (s spot) refuse(reason string, args ...any) error {
	return s.fault(fmt.Errorf("%w: "+reason, append([]any{ErrReference}, args...)...))
}

// reference returns the reference in an object, if it is one.
func reference(n *doc.Node) (string, bool) {
	ref := n.Get("$ref")
	return ref.Text(), ref.Is(doc.TypeString)
}

// walk replaces the references in an object of the result. at is the place of the object in
// the files.
func (j *joiner) walk(n *doc.Node, k kind, at spot) error {
	if n.Is(doc.TypeArray) {
		for i, item := range n.Items() {
			if err := j.walk(item, k, at.in(strconv.Itoa(i))); err != nil {
				return err
			}
		}
		return nil
	}
	if ref, ok := reference(n); ok {
		if sections[k] == "" {
			return j.place(n, ref, at, func(n *doc.Node, at spot) error { return j.walk(n, k, at) })
		}
		local, err := j.component(ref, k, at.in("$ref"))
		if err != nil {
			return err
		}
		if local != ref {
			n.Set("$ref", doc.NewString(local))
		}
		if n.Len() == 1 {
			return nil
		}
	}
	if err := j.texts(n, k, at); err != nil {
		return err
	}
	for name, v := range n.Members() {
		s, known := grammar[k][name]
		if !known {
			if s, known = grammar[k][every]; !known || strings.HasPrefix(name, "x-") {
				continue
			}
		}
		walk := j.walk
		if s.form == table {
			walk = j.table
		}
		if err := walk(v, s.kind, at.in(name)); err != nil {
			return err
		}
	}
	return nil
}

// table walks the objects of a map. If the map itself is a reference, which many tools accept,
// its target is copied.
func (j *joiner) table(n *doc.Node, k kind, at spot) error {
	if ref, ok := reference(n); ok {
		return j.place(n, ref, at, func(n *doc.Node, at spot) error { return j.table(n, k, at) })
	}
	for name, v := range n.Members() {
		if k == pathItem && strings.HasPrefix(name, "x-") {
			continue
		}
		if err := j.walk(v, k, at.in(name)); err != nil {
			return err
		}
	}
	return nil
}

// texts replaces references in plain texts: those of a discriminator, and the operation of a
// link.
func (j *joiner) texts(n *doc.Node, k kind, at spot) error {
	switch k {
	case schema:
		mapping := n.Get("discriminator", "mapping")
		for value, v := range mapping.Members() {
			file, _, _ := strings.Cut(v.Text(), "#")
			_, there := j.files[relative(at.file, file)]
			if !v.Is(doc.TypeString) || !there && !strings.ContainsAny(v.Text(), "#/") {
				continue // a name
			}
			local, err := j.component(v.Text(), schema, at.in("discriminator", "mapping", value))
			if err != nil {
				return err
			}
			mapping.Set(value, doc.NewString(local))
		}
	case link:
		if v := n.Get("operationRef"); v.Is(doc.TypeString) {
			t, _, err := j.resolve(v.Text(), k, at.in("operationRef"))
			if err != nil {
				return err
			}
			if t.file != j.main {
				return at.in("operationRef").refuse("%q is in another file; use operationId", v.Text())
			}
			n.Set("operationRef", doc.NewString("#"+t.pointer))
		}
	}
	return nil
}

// component returns the reference, within the result, to the target of ref. A target from
// another file becomes a component.
func (j *joiner) component(ref string, k kind, at spot) (string, error) {
	if at.file == j.main && strings.HasPrefix(ref, "#") {
		return ref, nil
	}
	t, found, err := j.resolve(ref, k, at)
	if err != nil {
		return "", err
	}
	if t.file == j.main {
		return "#" + t.pointer, nil
	}
	section := sections[k]
	if name := j.names[t]; name != "" {
		return "#" + pointer([]string{"components", section, name}), nil
	}
	// The preferred name is the last step of the pointer, or otherwise the name of the file.
	// Characters that component names cannot have (OpenAPI 3.1.1 section 4.8.7) become "_".
	wanted := strings.TrimSuffix(path.Base(t.file), path.Ext(t.file))
	if t.pointer != "" {
		all := steps(t.pointer)
		wanted = all[len(all)-1]
	}
	wanted = cmp.Or(strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)) {
			return r
		}
		return '_'
	}, wanted), "_")
	name := wanted
	for j.out.Get("components", section, name) != nil || j.used[section+"/"+name] {
		j.next[section+"/"+wanted]++
		name = wanted + "_" + strconv.Itoa(1+j.next[section+"/"+wanted])
	}
	if err := j.keep(t, name, found, at); err != nil {
		return "", err
	}
	return "#" + pointer([]string{"components", section, name}), nil
}

// keep copies the new component to its name.
func (j *joiner) keep(t target, name string, found *doc.Node, at spot) error {
	for _, holder := range []*doc.Node{j.out.Get("components"), j.out.Get("components", sections[t.kind])} {
		if holder != nil && !holder.Is(doc.TypeObject) {
			return at.refuse("components of the main file is not an object of objects")
		}
	}
	copied, err := j.take(found)
	if err != nil {
		return at.fault(err)
	}
	j.names[t], j.used[sections[t.kind]+"/"+name] = name, true
	j.made = append(j.made, made{t, name, copied})
	return nil
}

// place replaces a reference with its target; members beside the reference stay and take
// precedence.
func (j *joiner) place(n *doc.Node, ref string, at spot, walk func(*doc.Node, spot) error) error {
	if at.file == j.main && strings.HasPrefix(ref, "#") {
		return nil
	}
	t, found, err := j.resolve(ref, "", at.in("$ref"))
	switch {
	case err != nil:
		return err
	case t.file == j.main:
		n.Set("$ref", doc.NewString("#"+t.pointer))
		return nil
	case slices.Contains(j.within, t) || len(j.within) == MaxDepth:
		return at.refuse("%q leads back to itself", ref)
	case !found.Is(doc.TypeObject):
		return at.refuse("%q is not an object", ref)
	}
	copied, err := j.take(found)
	if err != nil {
		return at.fault(err)
	}
	j.within = append(j.within, t)
	err = walk(copied, t.spot())
	j.within = j.within[:len(j.within)-1]
	if err != nil {
		return err
	}
	n.Delete("$ref")
	if err := walk(n, at); err != nil {
		return err
	}
	for name, v := range copied.Members() {
		if n.Get(name) == nil {
			n.Set(name, v)
		}
	}
	return nil
}
