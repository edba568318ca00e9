package apis

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// prepare completes the classic definition of a draft and refuses what gateways
// could not load: they would lose every other API with it.
func (l *Library) prepare(d *apidef.Draft) error {
	def := d.Definition
	if err := l.streamable(d.Document); err != nil {
		return err
	}
	classic.ReadTimeouts(def)
	if err := typed(classic.Check(def)); err != nil {
		return err
	}
	if err := required(def); err != nil {
		return err
	}
	if def.Get("version_data").Is(doc.Absent, doc.TypeNull) {
		def.Set("version_data", unversioned())
	}
	repairSource(def)
	if l.Settings.ForceDefaults {
		def.Put(doc.NewBool(true), "proxy", "strip_listen_path")
	}
	if err := refused(validation.Classic(def)); err != nil {
		return err
	}
	if d.Document != nil { // which no schema has seen
		if err := typed(feed.Document(d.Document)); err != nil {
			return err
		}
	}
	return checkAPIID(d.APIID)
}

// required says which member of a definition is missing.
func required(def *doc.Node) error {
	if !def.Get("proxy").Is(doc.TypeObject) {
		return schemaFault("proxy", "proxy is required")
	}
	if strings.TrimSpace(def.Get("name").Text()) == "" {
		return schemaFault("name", "name is required")
	}
	return nil
}

// schemaFault is the contract's text for a definition of the wrong shape, with
// the place and the reason after it.
func schemaFault(field, reason string) error {
	return fault.New(fault.Invalid, codeInvalid, "Error while validating schema. %s", reason).At(field)
}

// typed turns type errors into one fault that names all of them.
func typed(problems []shape.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	texts := make([]string, 0, len(problems))
	for _, p := range problems {
		texts = append(texts, p.String())
	}
	return schemaFault(problems[0].Path, strings.Join(texts, "; "))
}

// unversioned is the version data of an API without versions.
func unversioned() *doc.Node {
	v := doc.NewObject()
	v.Set("not_versioned", doc.NewBool(true))
	v.Put(doc.NewString("Default"), "versions", "Default", "name")
	v.Put(doc.NewBool(true), "versions", "Default", "use_extended_paths")
	return v
}

// repairSource completes the padding of a base64 jwt_source (contract
// dashboard.md 9.3).
func repairSource(def *doc.Node) {
	source := def.Get("jwt_source").Text()
	if padded := oas.PadBase64(source); padded != source {
		def.Set("jwt_source", doc.NewString(padded))
	}
}

// maxAPIID is the length limit of an API ID in characters.
const maxAPIID = 256

// checkAPIID refuses identifiers that could not be addressed in a path.
func checkAPIID(id string) error {
	bad := func(r rune) bool { return r < ' ' || r == 0x7f || r == '/' }
	if id == "" || len([]rune(id)) > maxAPIID || strings.ContainsFunc(id, bad) || id == "." || id == ".." {
		return fault.New(fault.Invalid, codeInvalid, "invalid api_id: it must be 1 to %d characters without slashes and control characters", maxAPIID).At("api_id")
	}
	return nil
}

// checkCompliance refuses a status that does not exist: nothing is evaluated
// yet, so that of the others every list is empty.
func checkCompliance(status string) error {
	switch status {
	case "compliant", "non_compliant", "in_process":
		return nil
	}
	return fault.New(fault.Invalid, codeInvalid, "compliance_status must be one of compliant, non_compliant, in_process, not_evaluated, not %q", status).At("compliance_status")
}
