// Package bundle makes one document of an OpenAPI description that is written in
// several files: what a reference to another file stands for becomes a component
// of its own name, and path items are put where they are referred to (docs/wire/import.md#sources).
package bundle

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Limits of a description in several files.
const (
	MaxFiles = 1_000   // files
	MaxNodes = 300_000 // values, in all files together and in the result
	MaxDepth = 128     // levels of nesting, in a file and in the result

	// Bytes that the result takes, as far as it was copied: a path item is put in
	// place wherever it is referred to. All values of 32 MiB of files fit.
	maxWeight = 64 << 20
)

// Errors of this package, wrapped with the file and the place.
var (
	ErrMain      = errors.New("no main file")
	ErrReference = errors.New("unusable reference")
	ErrTooLarge  = errors.New("the description is too large")
)

// mains are the names that a main file may have, the preferred one first.
var mains = []string{"openapi.json", "openapi.yaml", "openapi.yml"}

// Main returns which of the files is the main one: openapi.json, openapi.yaml or
// openapi.yml at the root, or else in the only folder there is.
func Main(names []string) (string, error) {
	folder := ""
	for i, name := range names {
		top, _, nested := strings.Cut(name, "/")
		if !nested || i > 0 && top != folder {
			folder = ""
			break
		}
		folder = top
	}
	for _, dir := range []string{"", folder} {
		for _, main := range mains {
			if name := path.Join(dir, main); slices.Contains(names, name) {
				return name, nil
			}
		}
	}
	return "", fmt.Errorf("%w: a file openapi.json, openapi.yaml or openapi.yml is wanted at the root or in the only folder", ErrMain)
}

// measure returns how many values a tree at a depth has, or ErrTooLarge when it is nested
// deeper than MaxDepth.
func measure(n *doc.Node, depth int) (int, error) {
	if depth > MaxDepth {
		return 0, fmt.Errorf("%w: more than %d levels of nesting", ErrTooLarge, MaxDepth)
	}
	total := 1
	add := func(v *doc.Node) error {
		nodes, err := measure(v, depth+1)
		total += nodes
		return err
	}
	for _, v := range n.Members() {
		if err := add(v); err != nil {
			return 0, err
		}
	}
	for _, v := range n.Items() {
		if err := add(v); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// Join returns the main file with everything that it takes from the others. The
// names of files are slash-separated paths from one root; references are relative
// to the file in which they stand. The files themselves are not changed.
//
// A reference that leaves the root, names a file or a place that is not there, or
// is the address of another server is refused with ErrReference.
func Join(files map[string]*doc.Node, main string) (*doc.Node, error) {
	if files[main].Type() != doc.TypeObject {
		return nil, fmt.Errorf("%w: %s is not an object", ErrMain, main)
	}
	if len(files) > MaxFiles {
		return nil, fmt.Errorf("%w: more than %d files", ErrTooLarge, MaxFiles)
	}
	for name, n := range files {
		if _, err := measure(n, 1); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	j := joiner{files: files, main: main, left: MaxNodes, weight: maxWeight, names: map[target]string{}, used: map[string]bool{}, next: map[string]int{}, arrays: map[*doc.Node][]*doc.Node{}}
	var err error
	if j.out, err = j.take(files[main]); err != nil {
		return nil, err
	}
	if err := j.adopt(); err != nil {
		return nil, err
	}
	if err := j.walk(j.out, whole, spot{file: main}); err != nil {
		return nil, err
	}
	// The components that were made on the way, and those which that makes.
	for i := 0; i < len(j.made); i++ {
		m := j.made[i]
		if err := j.walk(m.node, m.target.kind, m.target.spot()); err != nil {
			return nil, err
		}
	}
	for _, m := range j.made {
		j.out.Put(m.node, "components", sections[m.target.kind], m.name)
	}
	_, err = measure(j.out, 1)
	return j.out, err
}

// joiner is the work on one result.
type joiner struct {
	files  map[string]*doc.Node
	main   string
	out    *doc.Node
	left   int                       // values that may still be copied
	weight int                       // bytes that may still be copied
	names  map[target]string         // of the components that places of other files became
	used   map[string]bool           // their sections and names
	next   map[string]int            // the number that a name got last
	arrays map[*doc.Node][]*doc.Node // the items of arrays that pointers led into
	made   []made                    // those components, in the order in which they were met
	within []target                  // targets that are being put in place
}

// made is a component that a place of another file became.
type made struct {
	target target
	name   string
	node   *doc.Node
}

// take copies a tree, within the limit.
func (j *joiner) take(n *doc.Node) (*doc.Node, error) {
	nodes, err := measure(n, 1)
	if j.left -= nodes; err == nil && j.left < 0 {
		err = fmt.Errorf("%w: more than %d values", ErrTooLarge, MaxNodes)
	}
	if err != nil {
		return nil, err
	}
	if j.weight -= n.Weight(j.weight + 1); j.weight < 0 {
		return nil, fmt.Errorf("%w: its references make more than %d bytes of it", ErrTooLarge, maxWeight)
	}
	return n.Clone(), nil
}

// adopt lets components of the main file that only refer to another file be what
// they refer to, so that the names which the author chose are kept.
func (j *joiner) adopt() error {
	for section, list := range j.out.Get("components").Members() {
		s, known := grammar[components][section]
		if !known || sections[s.kind] == "" {
			continue
		}
		for name, n := range list.Members() {
			ref, ok := reference(n)
			if !ok || n.Len() > 1 || strings.HasPrefix(ref, "#") {
				continue
			}
			at := spot{j.main, []string{"components", sections[s.kind], name, "$ref"}}
			t, found, err := j.resolve(ref, s.kind, at)
			if err != nil {
				return err
			}
			if t.file == j.main || j.names[t] != "" {
				continue
			}
			if err := j.keep(t, name, found, at); err != nil {
				return err
			}
		}
	}
	return nil
}
