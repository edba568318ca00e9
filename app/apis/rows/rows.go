// Package rows holds what the operations on APIs of all classes share: inputs,
// responses, faults, examples and notes.
package rows

import (
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// ByID is the input of operations on one API.
type ByID struct {
	Scope tenant.Scope
	Who   operation.Principal
	ID    string `path:"apiId" doc:"The api_id or the database ID of the API. An api_id takes precedence."`
}

// Item describes the items in lists of wrappers.
var Item = operation.Item{Kind: apidef.Kind, ID: "api_definition.api_id", Name: "api_definition.name"}

// DocumentItem describes the items in lists of documents.
var DocumentItem = operation.Item{Kind: apidef.Kind, ID: oas.ExtensionKey + ".info.id", Name: oas.ExtensionKey + ".info.name"}

// Sought is the option of lists that can be searched by a part of the name or of the
// listen path.
func Sought(i operation.Item, listenPath string) operation.Option {
	return operation.Narrows("q", operation.Part, i.Name, listenPath)
}

// Sorted is the option of lists of APIs that can be sorted. name is the member with
// their name.
func Sorted(name string) operation.Option {
	var keys []operation.SortKey
	for _, by := range apidef.Orders() {
		key := operation.SortKey{Value: by, Member: by}
		if by == "name" {
			key.Member = name
		}
		keys = append(keys, key)
	}
	return operation.Sorts("sort", "-", "", keys...)
}

// WriteByID is the input of writes to one API.
type WriteByID struct {
	ByID
	Match operation.Match
}

// baseHeader is the header with the base of a child version.
const baseHeader = "X-Tyk-Base-Api-Id"

// Render returns the text of an API as a response. base is the API ID of its base if it
// is a child version, or "".
func Render(text json.RawMessage, a store.Stored[apidef.API], base string) operation.Rendition {
	r := operation.Rendition{JSON: text, Tag: operation.Tag(a.Serial)}
	if base != "" {
		r.Header = map[string]string{baseHeader: base}
	}
	return r
}

// Style returns the style of all operations on APIs.
func Style(listKey string) operation.Style {
	return operation.Style{Word: "OK", ListKey: listKey, Faults: map[string]operation.Answer{
		apis.CodeTaken: {Text: "Found API with the same ID"}, versions.CodeDuplicate: {Status: 422},
	}}
}

// unread is the response that clients expect for a body that cannot be read.
var unread = operation.Answer{Text: "Couldn't read body."}

// Unread is the option of operations for which the public file has only that text.
func Unread() operation.Option {
	return operation.Answers(map[string]operation.Answer{operation.Unparsed: unread})
}

// Documents returns the style of operations with documents.
func Documents(listKey string) operation.Style {
	s := Style(listKey)
	s.Faults[apis.CodeTaken] = operation.Answer{Text: "Found API with the same ID."}
	s.Faults[operation.CodeEmptyBody] = unread
	s.Faults[operation.CodeMalformed] = operation.Answer{Text: "Couldn't read body. {message}"}
	s.Faults[versions.CodeName] = operation.Answer{Status: 422}
	return s
}

// Writing lists the faults of every operation that stores an API, and more.
func Writing(more ...string) operation.Option {
	return operation.Faulting(append([]string{apis.CodeTaken, apis.CodeURLTaken, apis.CodeInvalid, apis.CodeNotOwned, versions.CodeDuplicate, versions.CodeItself, versions.CodeTooLarge, apis.CodeLarge}, more...)...)
}

// Absent sets the response for an API that does not exist.
func Absent(status int, text string) operation.Option {
	return AbsentOr(status, text, nil)
}

// AbsentOr is Absent, with the responses to more faults.
func AbsentOr(status int, text string, more map[string]operation.Answer) operation.Option {
	all := map[string]operation.Answer{apis.CodeMissing: {Status: status, Text: text}}
	for code, a := range more {
		all[code] = a
	}
	return operation.Answers(all)
}

// NotesDryRun describes operations with a dry run.
const NotesDryRun = "With dry_run=true nothing is stored: the response lists the changes, and the references that would become dangling."

// NotesPlace describes IDs and addresses.
const NotesPlace = "An api_id belongs to one organisation, unless separate_gateways is on. A listen path begins with / or is a reference that gateways resolve " +
	"(env://, secrets://, consul://, vault://, file://, kv://); paths are compared as they are written. " +
	"An upstream address has a scheme and a host, is such a reference, or names another API (tyk://)."
