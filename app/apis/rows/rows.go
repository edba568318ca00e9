// Package rows holds what the operations on APIs of all classes have in common:
// inputs, answers, faults, examples and notes of their rows.
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

// ByID addresses one API.
type ByID struct {
	Scope tenant.Scope
	Who   operation.Principal
	ID    string `path:"apiId" doc:"api_id, or else database ID, of the API."`
}

// Item is what lists of wrappers show.
var Item = operation.Item{Kind: apidef.Kind, ID: "api_definition.api_id", Name: "api_definition.name"}

// DocumentItem is what lists of documents show.
var DocumentItem = operation.Item{Kind: apidef.Kind, ID: oas.ExtensionKey + ".info.id", Name: oas.ExtensionKey + ".info.name"}

// Sought narrows a list by part of what an API is found by.
func Sought(i operation.Item, listenPath string) operation.Option {
	return operation.Narrows("q", operation.Part, i.Name, listenPath)
}

// Sorted orders a list of APIs. name is the member that has their name.
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

// WriteByID addresses one API that is to change.
type WriteByID struct {
	ByID
	Match operation.Match
}

// baseHeader tells readers of a child version what its base is.
const baseHeader = "X-Tyk-Base-Api-Id"

// Render returns the text of an API as answer. base is the API ID of its base, if it
// is a child version.
func Render(text json.RawMessage, a store.Stored[apidef.API], base string) operation.Rendition {
	r := operation.Rendition{JSON: text, Tag: operation.Tag(a.Serial)}
	if base != "" {
		r.Header = map[string]string{baseHeader: base}
	}
	return r
}

// Style is what all rows that answer about APIs have in common.
func Style(listKey string) operation.Style {
	return operation.Style{Word: "OK", ListKey: listKey, Faults: map[string]operation.Answer{
		apis.CodeTaken: {Text: "Found API with the same ID"}, versions.CodeDuplicate: {Status: 422},
	}}
}

// unread is the text that clients know of a body that cannot be read.
var unread = operation.Answer{Text: "Couldn't read body."}

// Unread is for rows of which the public file says that text alone.
func Unread() operation.Option {
	return operation.Answers(map[string]operation.Answer{operation.Unparsed: unread})
}

// Documents is the style of rows that read documents.
func Documents(listKey string) operation.Style {
	s := Style(listKey)
	s.Faults[apis.CodeTaken] = operation.Answer{Text: "Found API with the same ID."}
	s.Faults[operation.CodeEmptyBody] = unread
	s.Faults[operation.CodeMalformed] = operation.Answer{Text: "Couldn't read body. {message}"}
	s.Faults[versions.CodeName] = operation.Answer{Status: 422}
	return s
}

// Writing lists the faults of every row that stores an API, and more.
func Writing(more ...string) operation.Option {
	return operation.Faulting(append([]string{apis.CodeTaken, apis.CodeURLTaken, apis.CodeInvalid, apis.CodeNotOwned, versions.CodeDuplicate, versions.CodeItself, versions.CodeTooLarge, apis.CodeLarge}, more...)...)
}

// Absent is how a row answers for an API that does not exist.
func Absent(status int, text string) operation.Option {
	return AbsentOr(status, text, nil)
}

// AbsentOr is Absent, with the answers to more faults.
func AbsentOr(status int, text string, more map[string]operation.Answer) operation.Option {
	all := map[string]operation.Answer{apis.CodeMissing: {Status: status, Text: text}}
	for code, a := range more {
		all[code] = a
	}
	return operation.Answers(all)
}

// NotesDryRun is what the description says of rows that can be rehearsed.
const NotesDryRun = "With dry_run=true nothing is stored: the answer says what would change, and which references would lead nowhere."

// NotesPlace is what the description says of identifiers and addresses.
const NotesPlace = "An api_id is of one organisation unless separate_gateways is on. A listen path begins with / or is a reference that gateways resolve " +
	"(env://, secrets://, consul://, vault://, file://, kv://); two paths differ if they are written differently. " +
	"An upstream address has a scheme and a host, or is a reference, or another API (tyk://)."
