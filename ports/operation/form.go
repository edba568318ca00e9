package operation

import "net/url"

// Form is a body that browsers may also send as the fields of a form. A body that is a
// JSON object is read as one whatever type it claims to be.
type Form interface {
	// Fill takes the fields of a form over.
	Fill(fields url.Values)
}
