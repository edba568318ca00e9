package forms

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/feed"
)

// Classic completes the classic definition of a draft and refuses a definition that
// gateways could not load, because they would then fail to load all other APIs as well.
func (f *Forms) Classic(d *apidef.Draft) error {
	def := d.Definition
	if err := f.Streamable(d.Document); err != nil {
		return err
	}
	if err := typed(classic.ReadTimeouts(def)); err != nil {
		return err
	}
	classic.Type().AllWhole(def)
	if err := typed(classic.Check(def)); err != nil {
		return err
	}
	if err := required(def); err != nil {
		return err
	}
	if def.Get("version_data").Is(doc.Absent, doc.TypeNull) {
		unversioned := doc.NewObject()
		unversioned.Set("not_versioned", doc.NewBool(true))
		unversioned.Put(doc.NewString("Default"), "versions", "Default", "name")
		unversioned.Put(doc.NewBool(true), "versions", "Default", "use_extended_paths")
		def.Set("version_data", unversioned)
	}
	if source := def.Get("jwt_source").Text(); source != oas.PadBase64(source) {
		def.Set("jwt_source", doc.NewString(oas.PadBase64(source)))
	}
	if f.Settings.ForceDefaults {
		def.Put(doc.NewBool(true), "proxy", "strip_listen_path")
	}
	if err := refused(validation.Classic(def)); err != nil {
		return err
	}
	if d.Document != nil { // no schema has checked it
		if err := typed(feed.Document(d.Document)); err != nil {
			return err
		}
	}
	return CheckAPIID(d.APIID)
}

// required returns a fault that names a missing member of a definition.
func required(def *doc.Node) error {
	if !def.Get("proxy").Is(doc.TypeObject) {
		return Misformed("proxy", "proxy is required")
	}
	if strings.TrimSpace(def.Get("name").Text()) == "" {
		return Misformed("name", "name is required")
	}
	return nil
}
