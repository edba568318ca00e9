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
	CodeClass     = apidef.Kind + ".class"      // operations of another class are for it
	CodeLarge     = apidef.Kind + ".too_large"  // it could not be sent back as a body
)

func missing() error { return fault.New(fault.NotFound, CodeMissing, "API not found") }

// NotOwned is the fault of an API that belongs to others.
func NotOwned() error { return fault.New(fault.Unauthenticated, CodeNotOwned, "Not authorised") }

// Admit refuses viewers who may not see an API. A hidden API is not found, like one
// that does not exist; only then its owners are asked for.
func Admit(a apidef.API, v apidef.Viewer) error {
	switch {
	case a.HiddenFrom(v):
		return missing()
	case !a.VisibleTo(v):
		return NotOwned()
	}
	return nil
}

// CheckClass refuses an API that has none of the classes. The first of them says how.
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

// IDTaken is the fault of an API whose api_id is in use. It says the same of an API
// that the caller sees as of one of another organisation, which is to stay unknown.
func IDTaken() *fault.Error {
	return fault.New(fault.Conflict, CodeTaken, "Found API with the same ID").At("api_id")
}

func urlTaken() *fault.Error {
	return fault.New(fault.Denied, CodeURLTaken, "Found API with same url.").At("proxy.listen_path")
}

func nameTaken() *fault.Error {
	return fault.New(fault.Conflict, CodeNameTaken, "Found MCP Proxy with the same name").At("x-tyk-api-gateway.info.name")
}

// Taken tells apart which unique value of an API is in use.
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
