// Package operation is the driving port: the operations of the control plane, described as
// data (rows). Transports, permission checks, audit, metrics, limits, the API description and
// documentation are all derived from these rows.
package operation

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Surface is one of the APIs of the control plane. Each has its own credential and its own
// error envelope.
type Surface string

// The surfaces.
const (
	Management Surface = "management" // users, /api
	Admin      Surface = "admin"      // super-admin, /admin
	Node       Surface = "node"       // gateways, /register and /system
	Probe      Surface = "probe"      // every client: health
	Portal     Surface = "portal"     // admins of the developer portal, /portal-api
)

// Spec describes an operation.
type Spec struct {
	ID         string // "clientidps.create": operationId, metric label, audit action
	Group      string // "clientidps": the prefix of the ID
	Base       string // "/api/clientidps": the prefix of the group's paths
	Surface    Surface
	Method     string
	Path       string // "/api/clientidps/{id}"
	Tail       bool   // the last placeholder takes the rest of a path, slashes included
	Alone      bool   // other methods get 404 for the path
	Refuses    bool   // no call succeeds: Status is that of the refusal
	Summary    string
	Notes      string       // more for the API description
	Media      []string     // other media types under which clients send the Document as JSON
	Contents   reflect.Type // type of the Document's contents, for the API description; nil: any object
	Tag        string
	Permission access.Permission // on the management surface; "" only when Public
	Intent     access.Intent     // from the method unless said otherwise
	Public     bool
	// OneOrganisation says that the row works on data of one organisation: users without an
	// organisation cannot call it.
	OneOrganisation bool
	// Early says that the row can be called before its surface is set up.
	Early    bool
	Unrouted bool // no operation has this route: the caller is authenticated only for the audit
	// EvenExpired says that users with a password that must be changed may call the row for
	// themselves, and that it needs no session with more rights.
	EvenExpired bool
	// BySession says that people call the row with a browser session and with no other
	// credential: on the portal.
	BySession bool
	// Visited says that a public operation gets the session of the browser, if there is one.
	Visited bool
	// Brokers says that identity brokers may call with their own secret: like the super-admin or,
	// on the portal, as the only callers.
	Brokers  bool
	Own      string        // path parameter with a user ID: users may call the row for themselves
	Status   int           // of a successful response
	MaxBody  int64         // bytes; 0: the surface's default
	Deadline time.Duration // 0: the surface's default
	// AnyPart says that the file of a form may be in a part with any name.
	AnyPart bool
	Redact  []string // body members that never reach audit, logs or rules' debug output
	Unseen  []string // part of Redact: placeholders, parameters and body members that rules do not see either
	Example any      // a response, for the API description
	Request any      // a request body, for the API description
	Faults  []string // codes of faults it returns besides those of every row of its surface
	Style   Style
	Needs   []Need // permissions besides Permission
	// Compact says that the response has no indentation where its surface indents, because
	// scripts search the text for members.
	Compact bool
	// Rehearsable says that the row returns what it would do when the call has the query
	// parameter DryRun.
	Rehearsable bool
	Like        any       // a value with the form of a Rendition; nil: an object
	Item        *Item     // the items of a list; nil: the row lists nothing
	Filters     []Filter  // by which the list can be filtered
	Order       *Ordering // by which it can be ordered; nil: its order is fixed
	onlooker    func(*Call) store.Onlooker
	identifier  Param    // the path parameter that inputs tag path:""
	above       Param    // the path parameter that inputs tag path:"^": the record below which the row lies
	members     []string // of a body that is an object with fixed members
	settle      func(context.Context, *Call) (Settled, error)
	off         func(context.Context, *Call) error
}

// Style is the response format of a family of operations.
type Style struct {
	Word     string            // status word of its envelopes: "OK", "success"
	ListKey  string            // member that holds the items of a page
	PagesKey string            // member that holds the number of pages; "" means "pages"
	Bare     bool              // pages are arrays of their items, and nothing else
	Failure  Failure           // on the portal: what errors look like
	Faults   map[string]Answer // by fault code, then by fault kind, where they differ from those of the surface
}

// Answer is a status and a text for a fault. {message} in the text stands for the fault's own
// message; an empty text is that message; status 0 is the status of the fault's kind.
type Answer struct {
	Status int
	Text   string
	Form   Failure // form of the error; "": as in the style
}

// Receipt is the response to a write that does not return the resource. The transport writes
// it as the surface's envelope.
type Receipt struct {
	Message string
	Meta    any    // a string, an object or nil
	ID      string // left out when empty
	Tag     string // entity tag of the written resource, or ""
}

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	Pages int // at least 1
}

// Entity is a resource with its entity tag.
type Entity[T any] struct {
	Value T
	Tag   string // strong, without quotes; changes with every write
}

// EntityTag returns the tag.
func (e Entity[T]) EntityTag() string { return e.Tag }

// EntityOf returns a value with the entity tag of a serial.
func EntityOf[T any](v T, at store.Serial) Entity[T] { return Entity[T]{Value: v, Tag: Tag(at)} }

// Stream is a response that provides its own bytes.
type Stream interface {
	// Stream returns the media type, an entity tag or "", and the bytes in pieces. Other
	// responses may share these pieces. gzipped, when not nil, is the same content compressed.
	Stream() (mediaType, tag string, plain, gzipped [][]byte)
}

// Live is a Stream without a fixed end: its pieces are sent as they become available.
type Live interface {
	Stream
	// Next waits for the next piece and returns it, or an error at the end of the response.
	Next(ctx context.Context) ([]byte, error)
	// Close closes the source of the pieces. It is called once.
	Close()
}

// File is a Stream that the client may be told to save.
type File interface {
	Stream
	// Download returns the name of the file, or "".
	Download() string
}

// Varied is a Stream with one of several media types.
type Varied interface {
	Stream
	MediaTypes() []string
}

// Headed is a Stream with additional headers, by canonical name.
type Headed interface {
	Stream
	Header() map[string]string
}

// Elsewhere is a Stream that clients may be told to fetch from another URL.
type Elsewhere interface {
	Stream
	// At returns this URL; "": the bytes are in the response.
	At() string
}

// Principal is the caller.
type Principal struct {
	ID          string // user ID, "admin" or node ID
	OrgID       tenant.ID
	GroupID     string   // the group that clients see as the user's group
	GroupName   string   // its name
	Groups      []string // every active group the user is in
	Email       string
	Active      bool
	Permissions access.Map // effective: after group resolution
	Lent        bool       // groups and permissions come from the session, not from a user
	Deputy      bool       // the caller uses a secret of the installation and is not a user
}

// Call is one request for an operation, before its input is decoded.
type Call struct {
	Spec      *Spec
	Principal Principal
	Scope     tenant.Scope
	RequestID string
	Method    string            // HEAD, if a row with GET answers it; "": the row's method
	RawPath   string            // as sent, without the query
	Path      map[string]string // placeholder values
	Query     url.Values
	RawQuery  string            // as sent; "": use Query
	Garbled   bool              // Query lacks a parameter that cannot be decoded: the call is refused
	Header    map[string]string // the headers that the row binds, by canonical name
	Body      json.RawMessage
	// Incoming reads the body into the call; nil: the body has been read, or there is none. See
	// Receive.
	Incoming func(context.Context) error
	Upload   Upload // body for a row that takes a Document or an Attachment
	settled  *settlement
	Token    string            // the surface's credential
	Session  string            // credential of a browser, when there is no Token
	Proof    string            // proves that no page of another site caused the call
	Cookies  map[string]string // those that the row binds
	Remote   string            // address of the caller
	Peer     string            // address of the connection
	// Status returns the status with which the transport answers an error; nil: not known.
	Status func(error) int
	// Answered registers a function that gets the response when it is complete and before it is
	// sent. Several can be registered; nil: the transport does not support it.
	Answered func(func(Transcript))
}

// Verb returns the method of the request: the row's method, or HEAD.
func (c *Call) Verb() string { return cmp.Or(c.Method, c.Spec.Method) }

// Transcript is a request without its body, and its response. It is read-only.
type Transcript struct {
	Protocol        string // with its version
	Header, Answers map[string][]string
	Status          int
	Body            [][]byte // of the answer
}

// Receive reads the body, unless it has been read. A guard calls Receive as soon as it knows
// the caller, and before other code uses the body: the bodies of unknown callers are never
// read.
func (c *Call) Receive(ctx context.Context) error {
	read := c.Incoming
	if c.Incoming = nil; read == nil {
		return nil
	}
	return read(ctx)
}

// Operation is a Spec with the function that carries it out.
type Operation struct {
	Spec
	In, Out reflect.Type
	Params  []Param
	Body    reflect.Type // of the request body; nil: none
	handle  Handler
}

// Param is a part of the request other than its body.
type Param struct {
	Name, In string // In: path, query, header or cookie
	Type     reflect.Type
	Is       string   // type in descriptions of a text that the use case decodes itself: integer or boolean; "": a text
	OneOf    []string // the allowed values; empty: any
	Required bool     // a parameter of the path always is
	Doc      string
	Page     string // for the page parameter: the value for all items; "size" for the page size parameter
}

// Do decodes the call's input, carries the operation out, or rehearses it, and
// returns its output.
func (o *Operation) Do(ctx context.Context, c *Call) (any, error) {
	if err := c.Receive(ctx); err != nil {
		return nil, err
	}
	// Without the parameter that cannot be decoded, the call could do more than its caller wants,
	// such as a real change instead of a rehearsal.
	if c.Garbled {
		return nil, fault.New(fault.Invalid, CodeParameter, "The query has a %% that begins no escape: write %%25 for a percent sign").At("query")
	}
	if asked, there := c.Query[DryRun]; there {
		return o.rehearse(ctx, c, asked)
	}
	return o.handle(ctx, c)
}

// Handler carries out a call.
type Handler func(ctx context.Context, c *Call) (any, error)

// Middleware wraps a Handler.
type Middleware func(Handler) Handler

// Service is a set of use cases with a list of its operations.
type Service interface{ Operations() []Operation }

// Placeholder returns the name of a path segment that is a placeholder.
func Placeholder(segment string) (string, bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}

// Shown returns the path of the call for logs and audit: segments are hidden if the name of
// their placeholder says that they hold secrets. Segments are found by position. A search by
// value would also hide equal texts elsewhere, and these gaps would reveal a short value.
func (c *Call) Shown(hides func(name string) bool) string {
	segments, row := strings.Split(c.RawPath, "/"), strings.Split(c.Spec.Path, "/")
	for i, segment := range row[:min(len(row), len(segments))] {
		name, ok := Placeholder(segment)
		if !ok || segments[i] == "" || !hides(name) {
			continue
		}
		segments[i] = redact.Hidden
		if c.Spec.Tail && i == len(row)-1 {
			segments = segments[:i+1]
		}
	}
	return strings.Join(segments, "/")
}

// ReadQuery parses the query of a URL as browsers do: only & separates parameters, and ; is an
// ordinary character. Parameters with a % that begins no escape are left out; garbled reports
// whether there was one.
func ReadQuery(raw string) (q url.Values, garbled bool) {
	q = url.Values{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		if nameErr != nil || valueErr != nil {
			garbled = true
			continue
		}
		q[name] = append(q[name], value)
	}
	return q, garbled
}
