package config

import (
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// assign stores a value in a field of Settings and reports whether the value is valid.
// Every unambiguous spelling is accepted: a number in quotes, a text without quotes.
func assign(field any, n *yaml.Node) bool {
	switch f := field.(type) {
	case *string:
		return store(f, n, asText)
	case *Secret:
		return store(f, n, as[Secret])
	case *Address:
		return store(f, n, as[Address])
	case *bool:
		return store(f, n, asBool)
	case *int:
		return store(f, n, asWhole[int])
	case *int64:
		return store(f, n, asWhole[int64])
	case *uint16:
		return store(f, n, asWhole[uint16])
	case *time.Duration:
		return store(f, n, asDuration)
	case *[]string:
		return store(f, n, asList(asText))
	case *[]Secret:
		return store(f, n, asList(as[Secret]))
	case *map[string]string:
		return store(f, n, asMap)
	case *map[string]Secret:
		return store(f, n, asSecretMap)
	case *[]Certificate:
		return store(f, n, asList(asCertificate))
	case *[]map[string]string:
		return store(f, n, asList(asMap))
	case *[]Edge:
		return store(f, n, asList(asEdge))
	default:
		return false
	}
}

// store does not change the field if the value is invalid.
func store[T any](field *T, n *yaml.Node, read func(*yaml.Node) (T, bool)) bool {
	v, ok := read(n)
	if ok {
		*field = v
	}
	return ok
}

func asText(n *yaml.Node) (string, bool) {
	n = resolve(n)
	return n.Value, n.Kind == yaml.ScalarNode && !isNull(n)
}

func as[T ~string](n *yaml.Node) (T, bool) {
	s, ok := asText(n)
	return T(s), ok
}

// asWord is asText without surrounding white space.
func asWord(n *yaml.Node) (string, bool) {
	s, ok := asText(n)
	return strings.TrimSpace(s), ok
}

func asBool(n *yaml.Node) (v, ok bool) {
	s, ok := asWord(n)
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true, ok
	case "false", "no", "off", "0":
		return false, ok
	default:
		return false, false
	}
}

func asWhole[T int | int64 | uint16](n *yaml.Node) (T, bool) {
	s, ok := asWord(n)
	if !ok {
		return 0, false
	}
	v, ok := whole(s)
	return T(v), ok && int64(T(v)) == v
}

// whole also accepts 3.3554432e+07, because templates that convert numbers to floating
// point write large ones in that form.
func whole(s string) (int64, bool) {
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return v, true
	}
	const exact = 1 << 53
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Trunc(f) != f || math.Abs(f) > exact || strings.ContainsAny(s, "xX_") {
		return 0, false
	}
	return int64(f), true
}

func asDuration(n *yaml.Node) (time.Duration, bool) {
	s, ok := asWord(n)
	if !ok {
		return 0, false
	}
	if seconds, ok := whole(s); ok {
		d := time.Duration(seconds) * time.Second
		return d, d/time.Second == time.Duration(seconds)
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		s += "s"
	}
	d, err := time.ParseDuration(s)
	return d, err == nil
}

func asList[T any](read func(*yaml.Node) (T, bool)) func(*yaml.Node) ([]T, bool) {
	return func(n *yaml.Node) ([]T, bool) {
		n = resolve(n)
		if n.Kind != yaml.SequenceNode {
			return nil, false
		}
		out := make([]T, 0, len(n.Content))
		for _, item := range n.Content {
			v, ok := read(item)
			if empty(item) {
				continue
			}
			if !ok {
				return nil, false
			}
			out = append(out, v)
		}
		return out, true
	}
}

// empty reports whether an entry of a list has no content: null, an empty text, or an
// object of these. Sample configurations have such an entry to show the members.
func empty(n *yaml.Node) bool {
	switch n = resolve(n); n.Kind {
	case yaml.ScalarNode:
		return n.Value == "" || isNull(n)
	case yaml.SequenceNode:
		return len(n.Content) == 0
	}
	for i := 1; i < len(n.Content); i += 2 {
		if v := resolve(n.Content[i]); v.Kind == yaml.MappingNode || !empty(v) {
			return false
		}
	}
	return len(n.Content) > 0
}

func asMap(n *yaml.Node) (map[string]string, bool) {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		return nil, false
	}
	out := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, ok := asText(n.Content[i])
		val, okay := asText(n.Content[i+1])
		if !ok || !okay {
			return nil, false
		}
		out[key] = val
	}
	return out, true
}

func asSecretMap(n *yaml.Node) (map[string]Secret, bool) {
	entries, ok := asMap(n)
	out := make(map[string]Secret, len(entries))
	for key, val := range entries {
		out[key] = Secret(val)
	}
	return out, ok
}

// asCertificate ignores unknown members: some existing configurations have additional
// ones.
func asCertificate(n *yaml.Node) (c Certificate, ok bool) {
	entries, ok := asMap(n)
	for key, val := range entries {
		switch strings.ToLower(key) {
		case "domain_name":
			c.DomainName = val
		case "cert_file":
			c.CertFile = val
		case "key_file":
			c.KeyFile = val
		}
	}
	return c, ok
}

// asEdge ignores unknown members, like asCertificate.
func asEdge(n *yaml.Node) (e Edge, ok bool) {
	n = resolve(n)
	if ok = n.Kind == yaml.MappingNode; !ok {
		return e, false
	}
	for i := 0; ok && i+1 < len(n.Content); i += 2 {
		val := resolve(n.Content[i+1])
		if isNull(val) {
			continue
		}
		switch strings.ToLower(resolve(n.Content[i]).Value) {
		case "name":
			ok = store(&e.Name, val, asText)
		case "endpoint":
			ok = store(&e.Endpoint, val, asText)
		case "tags":
			ok = store(&e.Tags, val, asList(asText))
		}
	}
	return e, ok
}
