package operation

import "net/url"

// Form is a body that browsers may also send as the fields of a form. A JSON object is decoded
// as JSON under any content type.
type Form interface {
	// Fill sets the body from the fields of a form.
	Fill(fields url.Values)
}
