package http

import (
	"bytes"
	"encoding/json"
	nethttp "net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/yaml"
)

// typical are the example faults for kinds in a description.
var typical = map[fault.Kind]*fault.Error{
	fault.Internal:        fault.New(fault.Internal, "", internalError),
	fault.Invalid:         fault.New(fault.Invalid, operation.CodeParameter, "… parameter … must be …").At("p"),
	fault.Unauthenticated: fault.New(fault.Unauthenticated, "auth.credential", "Not authorised"),
	fault.Denied:          fault.New(fault.Denied, "auth.denied", "access denied: You do not have permission to access  …"),
	fault.NotFound:        fault.New(fault.NotFound, "", "not found"),
	fault.Conflict:        fault.New(fault.Conflict, "", "already exists"),
	fault.Stale:           fault.New(fault.Stale, operation.CodeMatch, "If-Match does not hold: the resource has changed; read it again").At("If-Match"),
	fault.Unavailable:     fault.New(fault.Unavailable, codeAway, storeUnreachable),
	fault.TooLarge:        tooLarge,
	fault.TooMany:         fault.New(fault.TooMany, "auth.too_many", "Too many wrong credentials from this address; try again in a minute"),
	fault.TooSlow:         tooSlow,
}

// maintained is the fault of the management surface during maintenance. It also appears
// in rows that have their own answer for an unavailable store.
var maintained = fault.New(fault.Unavailable, "maintenance", "The service is down for maintenance; try again later")

// wrongAccept is the portal's fault for requests that accept GraphQL only.
var wrongAccept = fault.New(fault.Invalid, operation.CodeAccept, "unsupported Accept header")

// noRoom is a fault that every write can return.
var noRoom = fault.New(fault.Unavailable, codeFull, diskFull)

// badBodies are the faults that every body can have.
var badBodies = []*fault.Error{
	fault.New(fault.Invalid, operation.CodeEmptyBody, "body is empty"),
	fault.New(fault.Invalid, operation.CodeMalformed, "… must be …").At("name"),
	fault.New(fault.Invalid, operation.CodeMalformed, "not valid JSON: …").Because(doc.ErrSyntax),
	fault.New(fault.Invalid, operation.CodeMalformed, "an object is wanted"),
	fault.New(fault.Invalid, operation.CodeMalformed, "the body has a value of the wrong kind: …"),
	fault.New(fault.Invalid, operation.CodeSpelling, "… must be spelled …"),
}

// badParameters are the faults that every parameter can have.
var badParameters = saidWith(operation.CodeParameter)

// notSetUp is the portal's fault until it is bootstrapped.
var notSetUp = saidWith("portal.not_bootstrapped")

// moved is the fault of failed preconditions, strangeNode that of nodes that do not
// know the secret.
var moved, strangeNode = saidWith(operation.CodeMatch), saidWith("node.secret")

// unproven is for browsers whose call may come from a page of another site, and for
// users without an organisation, who may only read.
var unproven = append(saidWith("auth.csrf"), saidWith("auth.reads_only")...)

// badDocuments are the faults that a document can have, whether it is sent or fetched
// from its URL.
var badDocuments = append(saidWith(operation.CodeMalformed), fault.New(fault.Invalid, operation.CodeMalformed, "not readable as YAML: …").Because(yaml.ErrSyntax))

// badForms are the faults that a form with a file can have.
var badForms = append(saidWith(operation.CodeForm), saidWith(operation.CodeFiles)...)

// badPatches are the faults that a patch for a document can have.
var badPatches = []*fault.Error{
	fault.New(fault.Invalid, operation.CodeMalformed, "a merge patch is an object; a JSON patch is sent as "+operation.JSONPatch),
	fault.New(fault.Invalid, operation.CodePatch, `operation … (…): …`).At("tags/0"),
	fault.New(fault.Conflict, operation.CodePatchTest, `operation … (test …): the value is another one`).At("name"),
}

// faultsOf returns the faults that a row can answer: those that follow from its
// properties, and those it declares.
func faultsOf(o *operation.Operation, out output) []*fault.Error {
	list := []*fault.Error{typical[fault.Internal], typical[fault.Unavailable]}
	add := func(when bool, more ...*fault.Error) {
		if when {
			list = append(list, more...)
		}
	}
	away, _ := answerTo(typical[fault.Unavailable], o.Style.Faults)
	add(!o.Public && o.Surface == operation.Management && away != nethttp.StatusServiceUnavailable, maintained)
	add(!o.Public && o.Surface != operation.Node && o.Surface != operation.Probe, typical[fault.Unauthenticated])
	add(!o.Public && (o.Surface == operation.Management || o.Surface == operation.Portal), typical[fault.Denied])
	add(!o.Public && o.Surface == operation.Management && o.ChangesState(), unproven...)
	add(o.OneOrganisation && !o.ChangesState(), saidWith("auth.no_organisation")...)
	add(o.Surface == operation.Portal, wrongAccept)
	add(o.Surface == operation.Portal && !o.Early, notSetUp...)
	add(out.form == landing && o.Method != nethttp.MethodGet, crossSite)
	add(!o.Public && o.Surface == operation.Node, strangeNode...)
	add(!o.Public, typical[fault.TooMany])
	add(o.Method != nethttp.MethodGet && (o.Surface == operation.Management || o.Surface == operation.Admin || o.Surface == operation.Portal), noRoom)
	add(o.Body != nil && !o.TakesAttachment(), badBodies...)
	add(o.TakesAttachment(), badForms...)
	add(o.Body != nil, typical[fault.TooLarge], typical[fault.TooSlow])
	add(o.Body == reflect.TypeFor[operation.Patch](), badPatches...)
	add(o.Body == reflect.TypeFor[operation.Document](), badDocuments...)
	add(len(o.Params) > 0 || o.Method != nethttp.MethodGet || conditional(o, out), badParameters...) // every write accepts the dry-run parameter
	placed := strings.Contains(o.Path, "{")
	matches := slices.ContainsFunc(o.Params, func(p operation.Param) bool { return p.In == "header" && p.Name == "If-Match" })
	add(conditional(o, out) || placed && o.Method != nethttp.MethodGet || matches, moved...)
	for _, code := range o.Faults {
		list = append(list, declared(o, code)...)
	}
	missing := slices.ContainsFunc(list, func(f *fault.Error) bool { return f.Kind == fault.NotFound })
	add(placed && !missing, typical[fault.NotFound])
	return list
}

// declared returns the program's faults with a code that a row declares. A code that
// the program does not know comes from an embedding program: it gets an invalid-request
// fault, unless the row has neither an answer of its own for the code nor a body.
func declared(o *operation.Operation, code string) []*fault.Error {
	for _, k := range fault.Kinds() {
		if k.String() == code {
			return []*fault.Error{typical[k]}
		}
	}
	if list := saidWith(code); list != nil {
		return list
	}
	for _, f := range badPatches { // their texts are made while the program runs
		if f.Code == code {
			return []*fault.Error{f}
		}
	}
	if _, styled := o.Style.Faults[code]; !styled && o.Body == nil {
		return nil
	}
	return []*fault.Error{fault.New(fault.Invalid, code, "…")}
}

// StatusOf returns the status for a fault that an operation declares, or 0 if the fault
// has the status of its kind.
func StatusOf(o *operation.Operation, code string) int {
	for _, f := range declared(o, code) {
		status, _ := answerTo(f, o.Style.Faults)
		return status
	}
	return 0
}

// errors describes the errors of a row by status.
func (d *describer) errors(o *operation.Operation, out output) object {
	byStatus := map[int][]*fault.Error{}
	for _, f := range faultsOf(o, out) {
		status, _ := answerTo(f, o.Style.Faults)
		if !slices.Contains(byStatus[status], f) {
			byStatus[status] = append(byStatus[status], f)
		}
	}
	responses := object{}
	for status, faults := range byStatus {
		responses[strconv.Itoa(status)] = errorResponse(o, status, faults)
	}
	return responses
}

func errorResponse(o *operation.Operation, status int, faults []*fault.Error) object {
	compatible, problems := object{}, object{}
	var forms []any // schemas of the errors
	schema := "Error"
	switch o.Surface {
	case operation.Node:
		schema = "NodeError"
	case operation.Portal:
		schema = "PortalError"
	}
	for _, f := range faults {
		_, text := answerTo(f, o.Style.Faults)
		form := failureOf(&o.Spec, f, status)
		described, own := failureSchemas[form]
		if !own {
			described = ref("schemas", schema)
		}
		if !slices.ContainsFunc(forms, func(other any) bool { return reflect.DeepEqual(other, described) }) {
			forms = append(forms, described)
		}
		add(compatible, codeOf(f), dialectOf(o.Surface).envelope(nil, complaint{[]string{text}, form}))
		add(problems, codeOf(f), appendProblem(nil, f, status, "3f1c9a52-6e0b-4d7f-9d5e-2b8c1a7f4e60"))
	}
	headers := object{"X-Request-Id": ref("headers", "RequestID")}
	if status == nethttp.StatusServiceUnavailable || slices.ContainsFunc(faults, passing) {
		headers["Retry-After"] = ref("headers", "Retry")
	}
	described := forms[0]
	if len(forms) > 1 {
		described = object{"anyOf": forms}
	}
	content := object{jsonType: object{"schema": described, "examples": compatible}}
	if o.Surface != operation.Portal {
		content[problemType] = object{"schema": ref("schemas", "Problem"), "examples": problems}
	}
	return object{"description": nethttp.StatusText(status), "headers": headers, "content": content}
}

// failureSchemas describe the errors that are not in the envelope of their surface.
var failureSchemas = map[operation.Failure]object{
	operation.FailureText: {"type": "string"},
	operation.FailureStatus: {"type": "object", "required": []string{"status", "message"}, "properties": object{
		"status": object{"const": "error"}, "message": object{"type": "string"}}},
}

// add adds an example under a name, with a number appended if the name is taken.
func add(examples object, name string, text []byte) {
	example := object{"value": json.RawMessage(text)}
	for i, key := 2, name; ; i, key = i+1, name+"-"+strconv.Itoa(i) {
		have, taken := examples[key]
		if !taken {
			examples[key] = example
			return
		}
		x, errX := json.Marshal(have)
		y, errY := json.Marshal(example)
		if errX == nil && errY == nil && bytes.Equal(x, y) {
			return
		}
	}
}
