package apis

import (
	"errors"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Codes of faults.
const (
	CodeMissing   = apidef.Kind + ".not_found"
	CodeTaken     = apidef.Kind + ".taken"
	CodeURLTaken  = apidef.Kind + ".url_taken"
	CodeWrongID   = apidef.Kind + ".id"
	CodeInvalid   = apidef.Kind + ".invalid"
	CodeNotOwned  = apidef.Kind + ".not_owned"
	CodeNameTaken = apidef.Kind + ".name_taken" // of an MCP proxy
	CodeClass     = apidef.Kind + ".class"      // operations of another class must be used
	CodeLarge     = apidef.Kind + ".too_large"  // it would be too large for a request body
)

func missing() error { return fault.New(fault.NotFound, CodeMissing, "API not found") }

// NotOwned returns the fault for an API that the caller does not own.
func NotOwned() error { return fault.New(fault.Unauthenticated, CodeNotOwned, "Not authorised") }

// Admit refuses viewers who may not see an API. If its family is hidden from the
// viewer, the fault is NotFound, as for an API that does not exist. Only then ownership
// is checked.
func Admit(a apidef.API, v apidef.Viewer) error {
	switch {
	case a.HiddenFrom(v):
		return missing()
	case !a.VisibleTo(v):
		return NotOwned()
	}
	return nil
}

// CheckClass refuses an API of none of the classes. The fault names the first of them.
func CheckClass(a apidef.API, classes ...apidef.Class) error {
	if slices.Contains(classes, a.Class()) {
		return nil
	}
	switch classes[0] {
	case apidef.Streams:
		return fault.New(fault.Invalid, CodeClass, "API is not a streams API")
	case apidef.MCP:
		return fault.New(fault.Invalid, CodeClass, "API is not an MCP Proxy")
	}
	return fault.New(fault.Invalid, CodeClass, "API is not in OAS format")
}

// IDTaken returns the fault for an API whose api_id is in use. It is the same whether
// the caller sees the other API or it belongs to another organisation, so that this
// remains unknown.
func IDTaken() *fault.Error {
	return fault.New(fault.Conflict, CodeTaken, "Found API with the same ID").At("api_id")
}

func urlTaken() *fault.Error {
	return fault.New(fault.Denied, CodeURLTaken, "Found API with same url.").At("proxy.listen_path")
}

func nameTaken() *fault.Error {
	return fault.New(fault.Conflict, CodeNameTaken, "Found MCP Proxy with the same name").At("x-tyk-api-gateway.info.name")
}

// Taken returns the fault that says which unique field of an API is in use.
func Taken(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok || f.Code != CodeTaken:
		return err
	case f.Field == ByAPIID:
		return IDTaken().Because(f.Err)
	case f.Field == byPlace:
		return urlTaken().Because(f.Err)
	case f.Field == byProxy:
		return nameTaken().Because(f.Err)
	}
	return err
}
