package config

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Prefixes of environment variables; the first overrides the second.
const (
	ourPrefix   = "SVC_DB_"
	fieldPrefix = "TYK_DB_"
)

// variables lists the environment variables of a setting, in order of precedence. The
// log level has a name that all services of an installation share.
func (s *setting) variables() []string {
	if s.name == "log_level" {
		return []string{"SVC_LOGLEVEL", ourPrefix + s.suffix, "TYK_LOGLEVEL", fieldPrefix + s.suffix}
	}
	return []string{ourPrefix + s.suffix, fieldPrefix + s.suffix}
}

// environment collects environment variables, which override the settings of the file.
// An empty variable counts as absent, because composition tools set that for a variable
// without a value.
func (l *loader) environment(environ []string) {
	have := map[string]string{}
	for _, entry := range environ {
		if name, val, _ := strings.Cut(entry, "="); val != "" {
			have[name] = val
		}
	}
	known := map[string]bool{}
	for i := range l.names.rows {
		row, taken := &l.names.rows[i], false
		for _, name := range l.names.variables(row) {
			known[name] = true
			if val, ok := have[name]; ok && !taken {
				l.values[row], taken = value{text: val, origin: name}, true
			}
		}
	}
	for name := range have {
		if strings.HasPrefix(name, l.names.prefixes[0]) && !known[name] {
			l.unknownVariables[name] = true
		}
	}
}

// textNode converts the text of a variable to a tree like those of files. Lists are
// separated by commas, entries of maps are key:value. Both may also be JSON, and lists
// of objects must be.
func textNode(k kind, s string) (*yaml.Node, bool) {
	switch k {
	case list, secretList, dictionary, secretMap, certificates, endpoints, objects:
	default:
		return scalar(s), true
	}
	if trimmed := strings.TrimSpace(s); strings.HasPrefix(trimmed, "[") || strings.HasPrefix(trimmed, "{") {
		if !json.Valid([]byte(trimmed)) {
			return nil, false
		}
		n, err := parse([]byte(trimmed))
		return n, err == nil
	}
	if k == certificates || k == endpoints || k == objects {
		return nil, false
	}
	n := &yaml.Node{Kind: yaml.SequenceNode}
	pairs := k == dictionary || k == secretMap
	if pairs {
		n.Kind = yaml.MappingNode
	}
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		key, val, pair := strings.Cut(part, ":")
		switch {
		case part == "":
		case !pairs:
			n.Content = append(n.Content, scalar(part))
		case pair:
			n.Content = append(n.Content, scalar(strings.TrimSpace(key)), scalar(strings.TrimSpace(val)))
		default:
			return nil, false
		}
	}
	return n, true
}

func scalar(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}
