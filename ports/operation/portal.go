package operation

// Listing is a response with a part of a list: a plain array. Headers give the length of the
// whole list and its next pages.
type Listing[T any] struct {
	Items   []T
	Total   int
	Page    int // counted from 1; 0: all items
	PerPage int
}

// Bounds returns the length of the whole list, the number of this page, counted from 1, and
// the page size; page 0 is all items.
func (l Listing[T]) Bounds() (total, page, size int) { return l.Total, l.Page, l.PerPage }

// Failure is the form of an error.
type Failure string

// The forms of errors. On the portal: a list of messages, the same for an action that failed,
// one message, or a plain JSON string. On other surfaces: the envelope of the surface, or an
// object with two members in the style of gateways.
const (
	FailureList    Failure = ""
	FailureAction  Failure = "action"
	FailureMessage Failure = "message"
	FailureText    Failure = "text"
	FailureStatus  Failure = "status"
)

// CodeNoRoute and CodeNoMethod are the codes of the faults for requests without an operation.
const (
	CodeNoRoute  = "route.not_found"
	CodeNoMethod = "route.method"
)

// PortalFaults returns how rows of the portal answer each kind of fault by default
// (docs/wire/portal.md#errors).
func PortalFaults() map[string]Answer {
	return map[string]Answer{
		"invalid":         {Status: 422},
		"conflict":        {Status: 422},
		"not_found":       {Text: "record not found"},
		"denied":          {Text: "access denied"},
		"unauthenticated": {Text: "unauthorized"},
		"internal":        {Text: "internal server error"},
		CodeNoRoute:       {Text: "not found"},
		CodeNoMethod:      {Status: 405, Text: "method not allowed"},
		CodeAccept:        {Status: 400},
	}
}

// CodeAccept is the code of the fault for a request that accepts no possible media type.
const CodeAccept = "accept.unsupported"
