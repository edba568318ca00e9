// Package yaml converts between JSON documents and YAML, and keeps the order of members.
package yaml

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/yaml"
)

// Codec implements the port. The zero Codec is ready to use.
type Codec struct{}

// Parse implements the port.
func (c Codec) Parse(text []byte, l port.Limits) (*doc.Node, error) {
	may, err := c.Weigh(text, l)
	if err != nil {
		return nil, err
	}
	plain := text // the library refuses a directive for version 1.2, although it reads 1.2: the directive is changed to 1.1
	if at := version.FindIndex(text); at != nil {
		plain = slices.Concat(text[:at[1]-1], []byte("1"), text[at[1]:])
	}
	root, err := only(plain)
	if err != nil {
		return nil, err
	}
	if anchored(text) {
		l = may
	}
	r := reader{limits: l, left: l}
	return r.node(root.Content[0])
}

// version matches a directive that names version 1.2 of the language. Only comments, empty
// lines and other directives may precede it.
var version = regexp.MustCompile(`\A(?:\x{FEFF})?(?:[ \t]*(?:#[^\n]*)?\r?\n|%TAG [^\n]*\n)*%YAML[ \t]+1\.2\b`)

// only parses a text of one document. Further documents would be lost, so they must be
// empty.
func only(text []byte) (*yaml.Node, error) {
	var root *yaml.Node
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var next yaml.Node
		switch err := d.Decode(&next); {
		case errors.Is(err, io.EOF) && root == nil:
			return nil, fmt.Errorf("%w: there is nothing in it", port.ErrSyntax)
		case errors.Is(err, io.EOF):
			return root, nil
		case err != nil:
			return nil, fmt.Errorf("%w: %s", port.ErrSyntax, strings.TrimPrefix(err.Error(), "yaml: "))
		case root == nil:
			root = &next
		case next.Content[0].ShortTag() != "!!null":
			return nil, at(next.Content[0], "a second document begins")
		}
	}
}

// reader converts YAML nodes into JSON nodes.
type reader struct {
	limits, left port.Limits  // left: the rest of limits
	under        []*yaml.Node // aliases that are being resolved
}

func (r *reader) node(n *yaml.Node) (*doc.Node, error) {
	if err := r.spend(1, n.Value); err != nil {
		return nil, err
	}
	switch n.Kind {
	case yaml.MappingNode:
		out := doc.NewObject()
		return out, r.mapping(n, out, false)
	case yaml.SequenceNode:
		out := doc.NewArray()
		for _, item := range n.Content {
			v, err := r.node(item)
			if err != nil {
				return nil, err
			}
			out.Append(v)
		}
		return out, nil
	case yaml.AliasNode:
		return r.alias(n, r.node)
	}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return doc.NewNull(), nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return nil, at(n, "not a boolean")
		}
		return doc.NewBool(b), nil
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) { // keeps the spelling where JSON allows it
			return doc.ParseNode([]byte(n.Value))
		}
		var i int64
		if tag == "!!int" && n.Decode(&i) == nil { // the library would drop the fraction of another number
			return doc.NewInt(i), nil
		}
		var f float64
		if n.Decode(&f) != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, at(n, "JSON has no number "+strconv.Quote(n.Value))
		}
		return doc.NewFloat(f), nil
	}
	return doc.NewString(n.Value), nil
}

// alias resolves an alias, unless it is already being resolved.
func (r *reader) alias(n *yaml.Node, read func(*yaml.Node) (*doc.Node, error)) (*doc.Node, error) {
	for _, above := range r.under {
		if above == n.Alias {
			return nil, at(n, "the alias refers to itself")
		}
	}
	r.under = append(r.under, n.Alias)
	v, err := read(n.Alias)
	r.under = r.under[:len(r.under)-1]
	return v, err
}

// mapping adds the members of a mapping to an object; merged members do not replace
// existing ones.
func (r *reader) mapping(n *yaml.Node, out *doc.Node, merged bool) error {
	own := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.ShortTag() == "!!merge" {
			if err := r.merge(value, out); err != nil {
				return err
			}
			continue
		}
		if key.Kind != yaml.ScalarNode {
			return at(key, "a key must be a single value")
		}
		if own[key.Value] {
			return at(key, "the key "+strconv.Quote(key.Value)+" is there twice")
		}
		own[key.Value] = true
		if err := r.spend(0, key.Value); err != nil {
			return err
		}
		if merged && out.Get(key.Value) != nil {
			continue
		}
		v, err := r.node(value)
		if err != nil {
			return err
		}
		out.Set(key.Value, v)
	}
	return nil
}

// merge adds the members of a merge key: one mapping, or several.
func (r *reader) merge(n *yaml.Node, out *doc.Node) error {
	switch n.Kind {
	case yaml.AliasNode:
		_, err := r.alias(n, func(target *yaml.Node) (*doc.Node, error) { return nil, r.merge(target, out) })
		return err
	case yaml.MappingNode:
		if err := r.spend(len(n.Content), ""); err != nil {
			return err
		}
		return r.mapping(n, out, true)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if err := r.merge(item, out); err != nil {
				return err
			}
		}
		return nil
	}
	return at(n, "a merge key wants a mapping")
}

func at(n *yaml.Node, reason string) error {
	return fmt.Errorf("%w: line %d: %s", port.ErrSyntax, n.Line, reason)
}

// Format implements the port.
func (Codec) Format(n *doc.Node) ([]byte, error) {
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(write(n)); err != nil {
		return nil, err
	}
	return []byte(b.String()), e.Close()
}

func write(n *doc.Node) *yaml.Node {
	switch n.Type() {
	case doc.TypeObject:
		out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for name, v := range n.Members() {
			out.Content = append(out.Content, text(name), write(v))
		}
		return out
	case doc.TypeArray:
		out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, v := range n.Items() {
			out.Content = append(out.Content, write(v))
		}
		return out
	case doc.TypeString:
		return text(n.Text())
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: string(n.JSON())}
}

// older matches texts that readers of YAML 1.1 take for a boolean, a number to the base of
// sixty, or the value key "=", which some readers cannot load. The library quotes the rest.
var older = regexp.MustCompile(`^(?i:y|yes|n|no|on|off|=|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)$`)

// text returns a node that every reader takes for a string.
func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if older.MatchString(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
