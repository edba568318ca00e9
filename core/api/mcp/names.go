package mcp

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
)

// maxName is the maximum length of a tool name.
const maxName = 128

var validName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// toolNames returns the names of the tools of operations: the operation ID, otherwise method
// and path. A name that is taken or too long gets a digest
// (docs/wire/mcp-proxies.md#tool-view).
func toolNames(operations []oas.Operation) []string {
	names, taken := make([]string, len(operations)), map[string]bool{}
	for _, byID := range []bool{true, false} { // names from operation IDs go first
		for i, o := range operations {
			if (o.ID() != "") != byID {
				continue
			}
			names[i] = unique(o, taken)
			taken[names[i]] = true
		}
	}
	return names
}

// unique returns a name for an operation that is neither taken nor too long.
func unique(o oas.Operation, taken map[string]bool) string {
	name := o.ID()
	if !validName.MatchString(name) {
		name = cmp.Or(wordsOf(name), wordsOf(strings.ToLower(o.Method)+"_"+plainPath(o)))
	}
	if !taken[name] && len(name) <= maxName {
		return name
	}
	// The digest is part of names that clients remember, and is not a secret.
	digest := sha1.Sum([]byte(o.Method + " " + plainPath(o)))
	name = cut(name, "_"+hex.EncodeToString(digest[:4]))
	out := name
	for i := 2; taken[out]; i++ {
		out = cut(name, "_"+strconv.Itoa(i))
	}
	return out
}

// cut appends an ending, and shortens name to make room for it.
func cut(name, ending string) string { return name[:min(len(name), maxName-len(ending))] + ending }

var separators = regexp.MustCompile(`[^A-Za-z0-9]+`)

// wordsOf joins the words of a text with single underscores.
func wordsOf(text string) string { return strings.Trim(separators.ReplaceAllString(text, "_"), "_") }

// plainPath returns the path without braces and outer slashes.
func plainPath(o oas.Operation) string {
	return strings.Trim(strings.NewReplacer("{", "", "}", "").Replace(o.Path), "/")
}
