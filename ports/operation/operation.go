// Package operation is the driving port: what the control plane can be asked to
// do, as data. Transports, permission checks, audit, metrics, limits, the API
// description and documentation are all derived from these rows.
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

// Surface is one of the APIs the control plane speaks: its own credential, its
// own envelope of errors.
type Surface string

// The surfaces.
const (
	Management Surface = "management" // users, /api
	Admin      Surface = "admin"      // super-admin, /admin
	Node       Surface = "node"       // gateways, /register and /system
	Probe      Surface = "probe"      // anybody: health
	Portal     Surface = "portal"     // admins of the developer portal, /portal-api
)

// Spec describes an operation.
type Spec struct {
	ID         string // "clientidps.create": operationId, metric label, audit action
	Group      string // "clientidps": what the ID begins with
	Base       string // "/api/clientidps": what the paths of the group begin with
	Surface    Surface
	Method     string
	Path       string // "/api/clientidps/{id}"
	Tail       bool   // the last placeholder takes the rest of a path, slashes included
	Alone      bool   // to other methods the path is unknown
	Refuses    bool   // no call succeeds: Status is how it refuses
	Summary    string
	Notes      string       // more for the API description
	Media      []string     // further media types under which clients send the Document as JSON
	Contents   reflect.Type // of what is in the Document, for the API description; nil: any object
	Tag        string
	Permission access.Permission // on the management surface; "" only when Public
	Intent     access.Intent     // from the method unless said otherwise
	Public     bool
	// OneOrganisation says that the row is about what one organisation has: who belongs to
	// none cannot call it.
	OneOrganisation bool
	// Early says that the row answers before its surface is set up.
	Early    bool
	Unrouted bool // there is no operation for such calls: who calls is asked for the audit alone
	// EvenExpired says that users whose password must be changed may do this to
	// themselves, and that it needs no session that could do more.
	EvenExpired bool
	// BySession says that people call with the session of a browser, and with nothing else:
	// on the portal.
	BySession bool
	// Visited says that a public operation learns of the session that a browser may have.
	Visited bool
	// Brokers says that identity brokers may call with a secret of their own: besides the
	// super-admin, and on the portal they alone.
	Brokers  bool
	Own      string        // path parameter of a user's ID: callers may do this to themselves
	Status   int           // of success
	MaxBody  int64         // bytes; 0: the surface's default
	Deadline time.Duration // 0: the surface's default
	// AnyPart says that the file of a form may be in a part of any name.
	AnyPart bool
	Redact  []string // body members that never reach audit, logs or rules' debug output
	Unseen  []string // of Redact: placeholders, parameters and body members that rules do not see either
	Example any      // an answer, for the API description
	Request any      // a request body, for the API description
	Faults  []string // codes of faults it answers besides those every row of its surface has
	Style   Style
	Needs   []Need // permissions besides Permission
	// Compact says that what the row answers has no indentation where its surface indents:
	// scripts look for members in it by their text.
	Compact bool
	// Rehearsable says that the row answers what it would do when asked by the query
	// parameter DryRun.
	Rehearsable bool
	Like        any       // a value of the type that a Rendition is like; nil: an object
	Item        *Item     // what a list shows; nil: the row lists nothing
	Filters     []Filter  // by which the list can be narrowed
	Order       *Ordering // by which it can be ordered; nil: its order is fixed
	onlooker    func(*Call) store.Onlooker
	identifier  Param    // what inputs that leave its name open call it
	above       Param    // the same of the record in whose path the row lies
	members     []string // of the body, when it is an object with a fixed set of them
	settle      func(context.Context, *Call) (Settled, error)
	off         func(context.Context, *Call) error
}

// Style is how a family of operations looks on the wire.
type Style struct {
	Word     string            // status word of its envelopes: "OK", "success"
	ListKey  string            // member that holds the items of a page
	PagesKey string            // member that holds the number of pages; "" means "pages"
	Bare     bool              // pages are arrays of their items, and nothing else
	Failure  Failure           // on the portal: what errors look like
	Faults   map[string]Answer // by fault code, then by fault kind, where they differ from the surface's
}

// Answer is a status and a text. {message} in the text stands for the fault's
// own message; an empty text is that message; status 0 is the kind's status.
type Answer struct {
	Status int
	Text   string
	Form   Failure // what the error looks like; "": as the style says
}

// Receipt is the answer to a write that does not return the resource: it
// becomes the surface's envelope.
type Receipt struct {
	Message string
	Meta    any    // a string, an object or nil
	ID      string // left out when empty
	Tag     string // entity tag of what was written, or ""
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

// EntityOf returns a value as the record with a serial shows it.
func EntityOf[T any](v T, at store.Serial) Entity[T] { return Entity[T]{Value: v, Tag: Tag(at)} }

// Stream is an answer that writes its own bytes.
type Stream interface {
	// Stream returns the media type, an entity tag or "", and the bytes in
	// pieces, which may be shared with other answers; gzipped, when not nil, is
	// the same content compressed.
	Stream() (mediaType, tag string, plain, gzipped [][]byte)
}

// Live is a Stream that goes on: its pieces are sent as they come.
type Live interface {
	Stream
	// Next waits for the next piece and returns it, or an error when the answer is over.
	Next(ctx context.Context) ([]byte, error)
	// Close ends what the pieces come from. It is called once.
	Close()
}

// File is a Stream that the client may be told to save.
type File interface {
	Stream
	// Download returns the name of the file, or "".
	Download() string
}

// Varied is a Stream of one of several media types.
type Varied interface {
	Stream
	MediaTypes() []string
}

// Headed is a Stream with more headers, by canonical name.
type Headed interface {
	Stream
	Header() map[string]string
}

// Elsewhere is a Stream that clients may be told to fetch from another address.
type Elsewhere interface {
	Stream
	// At returns the address; "": the bytes are in the answer.
	At() string
}

// Principal is who asks.
type Principal struct {
	ID          string // user ID, "admin" or node ID
	OrgID       tenant.ID
	GroupID     string   // the group that clients know as the user's
	GroupName   string   // its name
	Groups      []string // every active group the user is in
	Email       string
	Active      bool
	Permissions access.Map // effective: after group resolution
	Lent        bool       // groups and permissions are those of the session, and not those of a user
	Deputy      bool       // calls with a secret of the installation, and not as a user
}

// Call is one request for an operation, before its input is decoded.
type Call struct {
	Spec      *Spec
	Principal Principal
	Scope     tenant.Scope
	RequestID string
	Method    string            // HEAD, of a request that a row with GET answers; "": the row's
	RawPath   string            // as sent, without the query
	Path      map[string]string // placeholder values
	Query     url.Values
	RawQuery  string            // as sent; "": Query stands for itself
	Garbled   bool              // Query lacks a parameter that cannot be read: the call is refused
	Header    map[string]string // the headers that rows bind, by canonical name
	Body      json.RawMessage
	// Incoming reads the body into the call; nil: the body is there, or there is
	// none. See Receive.
	Incoming func(context.Context) error
	Upload   Upload // of a row that takes a Document or an Attachment
	settled  *settlement
	Token    string            // the surface's credential
	Session  string            // the credential of a browser, when there is no Token
	Proof    string            // that the call is not brought about by a page of another site
	Cookies  map[string]string // those that the row binds
	Remote   string            // address of the caller
	Peer     string            // address of the connection
	// Status returns the status with which the transport answers an error; nil: it has none.
	Status func(error) int
	// Answered has the transport tell the answer to the call when it is settled, and before
	// it is sent, also to several who ask for that; nil: the transport does not.
	Answered func(func(Transcript))
}

// Verb returns the method of the request: that of the row, or HEAD.
func (c *Call) Verb() string { return cmp.Or(c.Method, c.Spec.Method) }

// Transcript is what a transport received and what it answers: bodies of requests it
// leaves out. Nothing may write to it.
type Transcript struct {
	Protocol        string // with its version
	Header, Answers map[string][]string
	Status          int
	Body            [][]byte // of the answer
}

// Receive reads the body, once, if it has not been read. A guard calls it as
// soon as it knows the caller and before anything that looks at the body: what
// strangers send costs nothing.
func (c *Call) Receive(ctx context.Context) error {
	read := c.Incoming
	if c.Incoming = nil; read == nil {
		return nil
	}
	return read(ctx)
}

// Operation is a Spec that can be carried out.
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
	Is       string   // what descriptions call a text that the use case reads itself: integer or boolean; "": a text
	OneOf    []string // the values that it may have; empty: any
	Required bool     // a parameter of the path always is
	Doc      string
	Page     string // of one that asks for a page: the value for all items, or "size" of one that says how long a page is
}

// Do decodes the call's input, carries the operation out, or rehearses it, and
// returns its output.
func (o *Operation) Do(ctx context.Context, c *Call) (any, error) {
	if err := c.Receive(ctx); err != nil {
		return nil, err
	}
	// Without the parameter that cannot be read the call could do more than its caller asks
	// for, such as the real thing in place of a rehearsal.
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

// Service is a set of use cases that lists what it can be asked.
type Service interface{ Operations() []Operation }

// Placeholder returns the name of a path segment that stands for a value.
func Placeholder(segment string) (string, bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}

// Shown returns the path of the call as logs and trails may have it: the segments of
// those placeholders are hidden whose names hold secrets. They are found by their places:
// a short value would also be found where it is none, and the gaps would tell it.
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

// ReadQuery reads the query of an address as browsers do: & alone separates parameters, and
// ; is a character like others. Parameters with a % that begins no escape are left out;
// garbled reports whether there is one.
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
