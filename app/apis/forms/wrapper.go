package forms

import (
	"encoding/json"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// hookReference is a reference to a webhook in the form that feeds resolve.
type hookReference struct {
	Event   string `json:"event_name"`
	Timeout int64  `json:"event_timeout"`
	Hook    struct {
		ID string `json:"id"`
	} `json:"hook"`
}

// Wrapper refuses members of a wrapper, the form of classic APIs in requests, that
// could not be decoded later, and known ones in another letter case. It does not check
// the definition and the document.
func Wrapper(wrapper doc.Object) error {
	text, err := wrapper.Without("api_definition").Without("oas").AppendJSON(nil)
	if err == nil {
		err = apidef.WrapperNames.Spelling(text)
	}
	if m, ok := errors.AsType[*shape.Misspelling](err); ok {
		return Misformed(m.Path, m.Error())
	}
	for _, m := range []struct {
		name string
		into any
	}{
		{"user_owners", &[]string{}}, {"user_group_owners", &[]string{}}, {"categories", &[]string{}}, {"sort_by", new(int)}, {"is_site", new(bool)}, {"is_streams", new(bool)},
	} {
		if raw, ok := wrapper.Get(m.name); ok && json.Unmarshal(raw, m.into) != nil {
			return Misformed(m.name, m.name+" has the wrong type")
		}
	}
	if raw, ok := wrapper.Get("hook_references"); ok && json.Unmarshal(raw, &[]hookReference{}) != nil {
		return Misformed("hook_references", "hook_references must be a list of {event_name, event_timeout, hook}")
	}
	return nil
}
