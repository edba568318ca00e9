package config

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// YAML returns the effective settings in the order of the table, nested as in a file,
// with secrets masked. Loading it gives the same settings, except the secrets.
func (s Settings) YAML() []byte {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for i := range table {
		if table[i].use != used {
			continue
		}
		field, n := table[i].field(&s), new(yaml.Node)
		if d, ok := field.(*time.Duration); ok {
			field = durationText(*d)
		}
		encodable(n.Encode(field))
		put(root, strings.Split(table[i].name, "."), n)
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	encodable(enc.Encode(root))
	encodable(enc.Close())
	return out.Bytes()
}

// put adds a value at a path, and creates the mappings on the way.
func put(n *yaml.Node, path []string, v *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == path[0] {
			put(n.Content[i+1], path[1:], v)
			return
		}
	}
	if len(path) > 1 {
		below := &yaml.Node{Kind: yaml.MappingNode}
		put(below, path[1:], v)
		v = below
	}
	n.Content = append(n.Content, scalar(path[0]), v)
}

// encodable panics on an error, because every type of a field can be encoded.
func encodable(err error) {
	if err != nil {
		panic(fmt.Sprintf("config: settings do not encode: %v", err))
	}
}

// durationText writes 720h rather than 720h0m0s.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Markdown returns the table of the settings in use, for the documentation.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| Setting | Environment | Type | Default | Meaning |\n|---|---|---|---|---|\n")
	for i := range table {
		row := &table[i]
		if row.use != used {
			continue
		}
		var variables []string
		for _, name := range row.variables() {
			if strings.HasPrefix(name, "SVC_") {
				variables = append(variables, "`"+name+"`")
			}
		}
		preset := ""
		if row.preset != "" {
			preset = "`" + row.preset + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", row.name, strings.Join(variables, ", "), row.kind, preset, row.meaning)
	}
	return b.String()
}
