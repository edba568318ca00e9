package http

import (
	"encoding/json"
	nethttp "net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// typical are the faults by which kinds are shown in a description.
var typical = map[fault.Kind]*fault.Error{
	fault.Internal:        fault.New(fault.Internal, "", internalError),
	fault.Invalid:         fault.New(fault.Invalid, operation.CodeParameter, "query parameter p must be a whole number").At("p"),
	fault.Unauthenticated: fault.New(fault.Unauthenticated, "auth.credential", "Not authorised"),
	fault.Denied:          fault.New(fault.Denied, "auth.denied", "access denied: You do not have permission to access  /path"),
	fault.NotFound:        fault.New(fault.NotFound, "", "not found"),
	fault.Conflict:        fault.New(fault.Conflict, "", "already exists"),
	fault.Stale:           fault.New(fault.Stale, operation.CodeMatch, "If-Match does not hold: the resource has changed; read it again").At("If-Match"),
	fault.Unavailable:     fault.New(fault.Unavailable, codeAway, storeUnreachable),
	fault.TooLarge:        tooLarge,
}

// maintained is what management answers while it is down for maintenance, also in
// rows that have an answer of their own for a store that is away.
var maintained = fault.New(fault.Unavailable, "maintenance", "The service is down for maintenance; try again later")

// noRoom is what any write may be told.
var noRoom = fault.New(fault.Unavailable, codeFull, diskFull)

// badBodies are what can be wrong with any body.
var badBodies = []*fault.Error{
	fault.New(fault.Invalid, operation.CodeEmptyBody, "body is empty"),
	fault.New(fault.Invalid, operation.CodeMalformed, "name must be a string, not number").At("name"),
}

// badPatches are what can be wrong with a patch for a document.
var badPatches = []*fault.Error{
	fault.New(fault.Invalid, operation.CodePatch, `operation 0 (remove "/tags/0"): there is nothing at this path`).At("tags/0"),
	fault.New(fault.Conflict, operation.CodePatchTest, `operation 0 (test "/name"): the value is another one`).At("name"),
}

// faultsOf lists the faults a row can answer: those that follow from what it is,
// and those it declares.
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
	add(!o.Public && (o.Surface == operation.Management || o.Surface == operation.Node), typical[fault.Denied])
	add(o.Method != nethttp.MethodGet && (o.Surface == operation.Management || o.Surface == operation.Admin), noRoom)
	add(o.Body != nil, badBodies...)
	add(o.Body != nil, typical[fault.TooLarge])
	add(o.Body == reflect.TypeFor[operation.Patch](), badPatches...)
	add(o.Body == nil && (len(o.Params) > 0 || conditional(o, out)), typical[fault.Invalid])
	placed := strings.Contains(o.Path, "{")
	add(conditional(o, out) || placed && o.Method != nethttp.MethodGet || takesMatch(o), typical[fault.Stale])
	for _, code := range o.Faults {
		if f := declared(o, code); f != nil {
			list = append(list, f)
		}
	}
	missing := slices.ContainsFunc(list, func(f *fault.Error) bool { return f.Kind == fault.NotFound })
	add(placed && !missing, typical[fault.NotFound])
	return list
}

func takesMatch(o *operation.Operation) bool {
	return slices.ContainsFunc(o.Params, func(p operation.Param) bool { return p.In == "header" && p.Name == "If-Match" })
}

// endings are the last words of codes that say which kind a fault is of.
var endings = map[string]fault.Kind{
	"not_found": fault.NotFound, "taken": fault.Conflict, "conflict": fault.Conflict, "stale": fault.Stale,
	"denied": fault.Denied, "unavailable": fault.Unavailable, "too_large": fault.TooLarge,
}

// declared returns a fault with a code that a row declares: its kind is in the
// code's ending, or it is an invalid body, or the row's style says its status.
// It is nil when the kinds that are listed anyway say all there is to say.
func declared(o *operation.Operation, code string) *fault.Error {
	for _, k := range fault.Kinds() {
		if k.String() == code {
			return typical[k]
		}
	}
	text := strings.NewReplacer(".", " ", "_", " ").Replace(code)
	kind, ok := endings[code[strings.LastIndex(code, ".")+1:]]
	if _, styled := o.Style.Faults[code]; !ok && !styled && o.Body == nil {
		return nil
	}
	if !ok {
		kind = fault.Invalid
	}
	return fault.New(kind, code, "%s", text)
}

// StatusOf returns the status of the answer to a fault that an operation
// declares, or 0 for one that is answered like others of its kind.
func StatusOf(o *operation.Operation, code string) int {
	f := declared(o, code)
	if f == nil {
		return 0
	}
	status, _ := answerTo(f, o.Style.Faults)
	return status
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
		response := errorResponse(o, status, faults)
		if usual(o, faults) {
			response = d.share(o.Surface, status, response)
		}
		responses[strconv.Itoa(status)] = response
	}
	return responses
}

// usual reports whether a row answers these faults as any row of its surface.
func usual(o *operation.Operation, faults []*fault.Error) bool {
	for _, f := range faults {
		status, text := answerTo(f, o.Style.Faults)
		if s, t := answerTo(f, nil); s != status || t != text || f != typical[f.Kind] && f != noRoom && !slices.Contains(badBodies, f) {
			return false
		}
	}
	return true
}

// share puts a response under a name, unless that name is for another one.
func (d *describer) share(s operation.Surface, status int, response object) object {
	name := capital(string(s)) + strconv.Itoa(status)
	have, taken := d.responses[name]
	if !taken {
		d.responses[name] = response
		return ref("responses", name)
	}
	if same(have, response) {
		return ref("responses", name)
	}
	return response
}

func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func errorResponse(o *operation.Operation, status int, faults []*fault.Error) object {
	compatible, problems := object{}, object{}
	schema := "Error"
	if o.Surface == operation.Node {
		schema = "NodeError"
	}
	for _, f := range faults {
		_, text := answerTo(f, o.Style.Faults)
		compatible[codeOf(f)] = object{"value": json.RawMessage(dialectOf(o.Surface).envelope(nil, text))}
		problems[codeOf(f)] = object{"value": json.RawMessage(appendProblem(nil, f, status, "3f1c9a52-6e0b-4d7f-9d5e-2b8c1a7f4e60"))}
	}
	headers := object{"X-Request-Id": ref("headers", "RequestID")}
	if status == nethttp.StatusServiceUnavailable || slices.ContainsFunc(faults, passing) {
		headers["Retry-After"] = ref("headers", "Retry")
	}
	return object{
		"description": nethttp.StatusText(status), "headers": headers,
		"content": object{
			jsonType:    object{"schema": ref("schemas", schema), "examples": compatible},
			problemType: object{"schema": ref("schemas", "Problem"), "examples": problems},
		},
	}
}
