package operation

// Listing is a list of which the answer shows a part: an array and nothing else. How
// long it is all in all, and where it goes on, is said in headers.
type Listing[T any] struct {
	Items   []T
	Total   int
	Page    int // counted from 1; 0: everything
	PerPage int
}

// Bounds returns how long the list is all in all, which page this is, counted from 1,
// and how many items a page has; page 0 is everything.
func (l Listing[T]) Bounds() (total, page, size int) { return l.Total, l.Page, l.PerPage }

// Failure is what an error looks like.
type Failure string

// The forms of errors. On the portal: a list of messages, the same of an action that was
// not carried out, one message, and a JSON string that is nothing else. Elsewhere: the
// envelope of the surface, and the two members of an answer in the style of gateways.
const (
	FailureList    Failure = ""
	FailureAction  Failure = "action"
	FailureMessage Failure = "message"
	FailureText    Failure = "text"
	FailureStatus  Failure = "status"
)

// CodeNoRoute and CodeNoMethod are the codes of the faults for what no operation answers.
const (
	CodeNoRoute  = "route.not_found"
	CodeNoMethod = "route.method"
)

// PortalFaults is how every row of the portal answers faults of a kind, unless it says
// otherwise (docs/wire/portal.md#errors).
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

// CodeAccept is the code of the fault for a media type that no answer may have.
const CodeAccept = "accept.unsupported"
