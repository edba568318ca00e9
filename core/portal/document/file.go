package document

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Media types of documents.
const (
	JSON = "application/json"
	YAML = "application/x-yaml"
	SDL  = "application/graphql"
)

// extensions map file extensions of GraphQL schemas to media types.
var extensions = map[string]string{".graphql": SDL, ".graphqls": SDL, ".gql": SDL, ".json": JSON}

// extension returns the extension of a file name, from its last dot on.
func extension(file string) string {
	if i := strings.LastIndexByte(file, '.'); i >= 0 {
		return file[i:]
	}
	return ""
}

// SchemaType returns the media type of a GraphQL schema, according to its file name.
func SchemaType(file string) (string, error) {
	if t, ok := extensions[strings.ToLower(extension(file))]; ok {
		return t, nil
	}
	return "", fault.New(fault.Invalid, CodeExtension, "the name of the file must end with .graphql, .graphqls, .gql or .json").At("file")
}
