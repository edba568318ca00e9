package view

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// The dimensions of values.
const (
	Total          = ""
	APIs           = "apiid"
	Versions       = "versions"
	Keys           = "apikeys"
	Tags           = "tags"
	Errors         = "errors"
	Geo            = "geo"
	Endpoints      = "apiendpoints"
	KeyEndpoints   = "keyendpoints"
	OAuthEndpoints = "oauthendpoints"
	Names          = "names"
	Methods        = "methods"
	URLs           = "url"
)

// VersionValue returns the value for an API version in the dimension Versions.
func VersionValue(api, version string) string {
	return base64.RawStdEncoding.EncodeToString([]byte(aggregate.Whose(api) + ":" + version))
}

// Endpoint is the endpoint of a value.
type Endpoint struct{ API, Version, Path string }

// EndpointOf decodes a value of the dimension Endpoints. A value of another form is a path.
func EndpointOf(value string) Endpoint {
	text, err := hex.DecodeString(value)
	if err != nil || strings.Count(string(text), ":") < 2 {
		return Endpoint{Path: value}
	}
	return EndpointIn(string(text))
}

// EndpointIn parses an endpoint in the form of records: API, version and path, separated by
// colons. Callers of APIs choose versions, which may contain colons too; paths begin with a
// slash.
func EndpointIn(text string) Endpoint {
	api, rest, _ := strings.Cut(text, ":")
	api = aggregate.APIOf(api)
	if version, path, ok := strings.Cut(rest, ":/"); ok {
		return Endpoint{api, version, "/" + path}
	}
	version, path, _ := strings.Cut(rest, ":")
	return Endpoint{api, version, path}
}

// EndpointFor decodes a value of the dimensions KeyEndpoints and OAuthEndpoints, which begins
// with the key or the client. A value of another form is a path.
func EndpointFor(whose, value string) Endpoint {
	rest := strings.TrimPrefix(value, whose+".")
	text, err := base64.RawStdEncoding.DecodeString(rest)
	api, path, ok := strings.Cut(string(text), ":")
	if err != nil || !ok {
		return Endpoint{Path: rest}
	}
	return Endpoint{API: aggregate.APIOf(api), Path: path}
}

// Cut is a condition on a value: its substring at At, counted in characters from 1, with a
// length of Length, is one of Texts.
type Cut struct {
	At, Length int
	Texts      []string
}

// cuts groups texts by length.
func cuts(at int, texts []string) []Cut {
	byLength, out := map[int]int{}, []Cut{}
	for _, t := range texts {
		i, ok := byLength[len(t)]
		if !ok {
			i = len(out)
			byLength[len(t)] = i
			out = append(out, Cut{At: at, Length: len(t)})
		}
		out[i].Texts = append(out[i].Texts, t)
	}
	return out
}

// EndpointCuts returns the conditions on values of the dimension Endpoints for the endpoints
// of some APIs, for one of their versions or, if version is empty, for all.
func EndpointCuts(apis []string, version string) []Cut {
	texts := make([]string, len(apis))
	for i, api := range apis {
		api = aggregate.Whose(api)
		if texts[i] = hex.EncodeToString([]byte(api + ":")); version != "" {
			texts[i] = hex.EncodeToString([]byte(api + ":" + version + ":"))
		}
	}
	return cuts(1, texts)
}

// CutsFor is EndpointCuts for the values that EndpointFor decodes. When the last base64 digit
// of a prefix also contains bits of the next byte, there is a text for each possible digit.
func CutsFor(whose string, apis []string) []Cut {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var texts []string
	for _, api := range apis {
		begin := []byte(aggregate.Whose(api) + ":")
		bits, text := len(begin)*8, base64.RawStdEncoding.EncodeToString(begin)
		if bits%6 == 0 {
			texts = append(texts, text)
			continue
		}
		open := 6 - bits%6 // unknown bits of the last digit
		last := strings.IndexByte(digits, text[len(text)-1])
		for n := range 1 << open {
			texts = append(texts, text[:len(text)-1]+digits[last+n:last+n+1])
		}
	}
	return cuts(utf8.RuneCountInString(whose)+2, texts)
}

// Primitive is the subject of a Model Context Protocol call.
type Primitive struct{ Type, Name, Method string }

// methods are the methods that call primitives, by type.
var methods = map[string]string{"tool": "tools/call", "resource": "resources/read", "prompt": "prompts/get"}

// PrimitiveOf decodes a value of the dimension Names: a primitive, or a method without one.
func PrimitiveOf(value string) Primitive {
	kind, name, ok := strings.Cut(value, "_")
	if method := methods[kind]; ok && method != "" {
		return Primitive{kind, name, method}
	}
	return Primitive{Name: value, Method: value}
}

// PrimitiveValues returns the values of the dimension Names that match the filters: a list,
// nil for any, and a prefix.
func PrimitiveValues(method, kind, name string) (values []string, prefix string, err error) {
	if _, ok := methods[kind]; !ok && kind != "" {
		return nil, "", fault.New(fault.Invalid, CodeFilter, "query parameter mcp_primitive_type must be tool, resource or prompt").At("mcp_primitive_type")
	}
	var kinds []string // that match the filters; "": calls without a primitive
	for _, k := range []string{"tool", "resource", "prompt"} {
		if (kind == "" || k == kind) && (method == "" || methods[k] == method) {
			kinds = append(kinds, k)
		}
	}
	bare := kind == "" && len(kinds) != 1
	switch {
	case method == "" && kind == "" && name == "":
		return nil, "", nil
	case name == "" && len(kinds) == 1:
		return nil, kinds[0] + "_", nil
	case name == "" && bare && method != "":
		return []string{method}, "", nil
	}
	values = []string{}
	if name == "" {
		return values, "", nil
	}
	for _, k := range kinds {
		values = append(values, k+"_"+name)
	}
	if bare && (method == "" || method == name) {
		values = append(values, name)
	}
	return values, "", nil
}
