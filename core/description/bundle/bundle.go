// Package bundle makes one document from an OpenAPI description in several files. The targets
// of references to other files become components, and path items are copied to their
// references (docs/wire/import.md#sources).
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

	// Bytes that are copied into the result: a path item is copied to each reference. All values
	// of 32 MiB of files fit.
	maxWeight = 64 << 20
)

// Errors of this package, wrapped with the file and the place.
var (
	ErrMain      = errors.New("no main file")
	ErrReference = errors.New("unusable reference")
	ErrTooLarge  = errors.New("the description is too large")
)

// mains are the possible names of a main file, the preferred one first.
var mains = []string{"openapi.json", "openapi.yaml", "openapi.yml"}

// Main returns the main file: openapi.json, openapi.yaml or openapi.yml at the root, or
// otherwise in the only folder.
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

// Join returns the main file with everything that it uses from the others. The names of files
// are slash-separated paths from one root; references are relative to their file. The files
// themselves are not changed.
//
// A reference that leaves the root, names a missing file or place, or is a URL of another
// server is refused with ErrReference.
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
	// The new components, and the components that these add.
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

// joiner is the state while one result is made.
type joiner struct {
	files  map[string]*doc.Node
	main   string
	out    *doc.Node
	left   int                       // values that may still be copied
	weight int                       // bytes that may still be copied
	names  map[target]string         // names of the components made from places of other files
	used   map[string]bool           // sections and names of these components
	next   map[string]int            // the last number that was added to a name
	arrays map[*doc.Node][]*doc.Node // items of arrays into which pointers lead
	made   []made                    // new components, in the order in which they were found
	within []target                  // targets that are being copied
}

// made is a component made from a place of another file.
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

// adopt replaces components of the main file that only refer to another file with their
// targets, so that the author's names stay.
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
