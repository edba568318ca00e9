package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds the size of a configuration file in bytes, because reading a device
// may not end.
const maxFile = 16 << 20

// readFile reads a configuration file, which may be a pipe.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxFile)
	}
	return text, err
}

// parse parses a JSON or YAML document into a tree that keeps the spelling of every
// scalar. The tree of an empty document is nil. The error quotes no value of the
// document, because it may be a secret.
func parse(doc []byte) (*yaml.Node, error) {
	doc = bytes.TrimPrefix(doc, []byte("\ufeff"))
	// YAML is said to include JSON, but the parser refuses tabs before the first
	// bracket, surrogate pairs and the escape \/.
	if json.Valid(doc) {
		d := jsonDecoder{json.NewDecoder(bytes.NewReader(doc))}
		d.UseNumber()
		return d.value()
	}
	var root, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(doc))
	err := d.Decode(&root)
	if err == nil {
		if err = d.Decode(&more); err == nil && len(more.Content) > 0 && !isNull(more.Content[0]) {
			err = fmt.Errorf("line %d: a second document begins, and only one may hold settings", more.Content[0].Line)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(quotation.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "anchor"))
	}
	if len(root.Content) == 0 {
		return nil, nil
	}
	return root.Content[0], nil
}

// quotation matches the text that the parser quotes from the document. Other quotes in
// its messages are around expected punctuation.
var quotation = regexp.MustCompile("anchor '[^']*'|`[^`]*`")

// jsonDecoder builds the same tree from valid JSON.
type jsonDecoder struct{ *json.Decoder }

func (d jsonDecoder) value() (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("not valid JSON near byte %d", d.InputOffset())
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str"}
	switch t := token.(type) {
	case nil:
		n.Tag = "!!null"
	case json.Delim: // followed by values, or by names and values in turn
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		if t == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		for d.More() {
			child, err := d.value()
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		if _, err := d.Token(); err != nil {
			return nil, fmt.Errorf("not valid JSON near byte %d", d.InputOffset())
		}
	default:
		n.Value = fmt.Sprint(t)
	}
	return n, nil
}

// resolve returns the node that an alias refers to.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// document is a configuration file as it was read.
type document struct {
	name string
	root *yaml.Node // nil: it is empty, or could not be read because of err
	err  error
}

// open parses a document. Without a name, messages call it the configuration file.
func open(file []byte, name string) document {
	root, err := parse(file)
	return document{cmp.Or(name, "the configuration file"), root, err}
}

// divided separates the portal's own settings from a document. portal has no root if
// there are none. The name storage is a section for the program, and a text for the
// portal.
func (d document) divided() (rest, portal document) {
	if d.root == nil || resolve(d.root).Kind != yaml.MappingNode {
		return d, document{name: d.name}
	}
	all, ours, theirs := resolve(d.root).Content, &yaml.Node{Kind: yaml.MappingNode}, &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(all); i += 2 {
		name, to := strings.ToLower(resolve(all[i]).Value), ours
		section := resolve(all[i+1]).Kind == yaml.MappingNode
		if ofPortal.knows(name) && (!own.knows(name) || own.sections[name] != section) {
			to = theirs
		}
		to.Content = append(to.Content, all[i], all[i+1])
	}
	if len(theirs.Content) == 0 {
		return d, document{name: d.name}
	}
	return document{name: d.name, root: ours}, document{name: d.name, root: theirs}
}

// file collects the settings of a document.
func (l *loader) file(d document) {
	switch {
	case d.err != nil:
		l.problem("", "%s is neither valid JSON nor valid YAML: %s", d.name, d.err)
	case d.root == nil || isNull(d.root):
	case resolve(d.root).Kind != yaml.MappingNode:
		l.problem("", "%s holds no settings: expected names with values", d.name)
	default:
		l.section(resolve(d.root), "", d.name)
	}
}

// section collects the settings of one mapping. It recurses only into known sections,
// which are few levels deep, so that a document with aliases cannot make it loop.
func (l *loader) section(n *yaml.Node, prefix, file string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		path, node := prefix+resolve(n.Content[i]).Value, resolve(n.Content[i+1])
		row, known := l.names.byName[strings.ToLower(path)]
		switch {
		case known && isNull(node): // null is the same as leaving it out
		case known:
			if _, twice := l.values[row]; twice {
				l.warn("%s is given more than once in %s; the last one counts", row.name, file)
			}
			l.values[row] = value{node: node, origin: file}
		case !l.names.sections[strings.ToLower(path)]:
			l.unknownNames[path] = true
		case node.Kind == yaml.MappingNode:
			l.section(node, path+".", file)
		case node.Kind != yaml.ScalarNode || strings.TrimSpace(node.Value) != "" && !isNull(node):
			l.problem(path, "expected settings below this name (%s)", file)
		}
	}
}
