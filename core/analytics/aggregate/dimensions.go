package aggregate

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/analytics/record"
)

// Dimensions lists all dimensions; the empty one is the total.
var Dimensions = []string{total, apiID, "apikeys", "oauthids", "geo", "versions", "errors", "tags", "endpoints", "apiendpoints", "keyendpoints", "oauthendpoints",
	"methods", "primitives", "names", "operation", "types", "fields", "rootfields", "url"}

// Size limits of the parts of a value, in bytes. Database indexes accept no entry of more than
// 2704 bytes, and identifiers of rows encode each byte as two.
const (
	maxName  = 64  // of identifiers and versions
	maxPath  = 400 // of paths, keys and addresses
	maxValue = 1000
)

// value is a value of a dimension in a record.
type value struct {
	dimension, value  string
	identifier, human string
	graph             bool // GraphQL errors count as errors
}

// separator replaces the colons of an API ID. No API ID has control characters.
const separator = "\x1f"

// Whose encodes an API ID for the beginning of a value, where a colon follows it. Without the
// encoding, counters of the API a:b would be read as those of the API a, also by the owners of
// a.
func Whose(api string) string { return strings.ReplaceAll(api, ":", separator) }

// APIOf decodes an API ID that Whose has encoded.
func APIOf(text string) string { return strings.ReplaceAll(text, separator, ":") }

// dimensions returns all values of a record. Empty values are not counted.
func dimensions(o Options, t Table, r *record.Record) []value {
	api, version, key, client, path := short(r.APIID), short(r.APIVersion), cut(r.APIKey, maxPath), cut(r.OauthID, maxPath), cut(r.Path, maxPath)
	out := make([]value, 0, 16)
	out = append(out,
		value{dimension: total, value: "total"},
		value{dimension: apiID, value: api, identifier: r.APIID, human: r.APIName},
		value{dimension: "apikeys", value: key, identifier: r.APIKey, human: r.Alias},
		value{dimension: "oauthids", value: client, identifier: r.OauthID},
		value{dimension: "geo", value: short(r.Geo.Country), identifier: r.Geo.Country})
	if version != "" {
		out = append(out, value{dimension: "versions", value: encode(Whose(api) + ":" + version), identifier: r.APIVersion, human: r.APIVersion})
	}
	if r.ResponseCode >= 400 {
		out = append(out, code(measure{code: r.ResponseCode}))
	}
	for _, tag := range r.Tags { // tags with the prefix key- are left out: keys have their own dimension
		if strings.HasPrefix(tag, "key-") || t == Requests &&
			slices.ContainsFunc(o.IgnoreTags, func(prefix string) bool { return prefix != "" && strings.HasPrefix(tag, prefix) }) {
			continue
		}
		tag = Tag(tag)
		out = append(out, value{dimension: "tags", value: cut(tag, maxPath), identifier: tag, human: tag})
	}
	if path != "" && (r.TrackPath || o.TrackAll && t == Requests) {
		long := hex.EncodeToString([]byte(Whose(api) + ":" + version + ":" + path))
		out = append(out,
			value{dimension: "endpoints", value: strings.ReplaceAll(path, ".", `\u2e`), identifier: r.Path, human: r.Path},
			value{dimension: "apiendpoints", value: long, identifier: long, human: r.Path})
		of := encode(Whose(api) + ":" + path)
		if key != "" {
			out = append(out, value{dimension: "keyendpoints", value: key + "." + of, identifier: of})
		}
		if client != "" {
			out = append(out, value{dimension: "oauthendpoints", value: client + "." + of, identifier: of})
		}
	}
	switch t {
	case MCP:
		m := &r.MCP
		name, kind := cut(m.PrimitiveName, maxPath), short(m.PrimitiveType)
		if kind != "" && name != "" {
			name = kind + "_" + name
		}
		out = append(out,
			value{dimension: "methods", value: cut(m.Method, maxPath), identifier: m.Method, human: m.Method},
			value{dimension: "primitives", value: kind, identifier: m.PrimitiveType, human: m.PrimitiveType},
			value{dimension: "names", value: name, identifier: name, human: m.PrimitiveName})
	case GraphQL:
		out = append(out, queries(&r.GraphQL)...)
	}
	for i := range out {
		out[i].value = cut(out[i].value, maxValue)
	}
	return out
}

func code(m measure) value {
	text := strconv.FormatInt(m.code, 10)
	return value{dimension: "errors", value: text, identifier: text}
}

// Tag returns the form in which a tag is counted.
func Tag(tag string) string { return strings.ReplaceAll(strings.TrimSpace(tag), ".", "") }

// queries returns the values of a GraphQL request.
func queries(g *record.GraphQL) []value {
	operation := g.Operation.String()
	out := []value{{dimension: "operation", value: operation, identifier: operation, human: operation, graph: true}}
	add := func(dimension, name string) {
		out = append(out, value{dimension: dimension, value: cut(name, maxPath), identifier: name, human: name, graph: true})
	}
	for _, t := range g.Types {
		add("types", t.Name)
		for _, f := range t.Fields {
			if len(out) < record.MaxList {
				add("fields", t.Name+"_"+f)
			}
		}
	}
	for _, f := range g.RootFields {
		add("rootfields", f)
	}
	return out
}

// encode encodes a value that consists of several parts.
func encode(text string) string { return base64.RawStdEncoding.EncodeToString([]byte(text)) }

func short(text string) string { return cut(text, maxName) }

// cut shortens a text to at most most bytes. A shortened text ends with a hash, so that
// different texts stay different.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	end := "~" + hex.EncodeToString(sum[:8])
	return record.Text(text, most-len(end)) + end
}
