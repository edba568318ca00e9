package http

import (
	"context"
	"fmt"
	nethttp "net/http"
	"net/netip"
	"net/textproto"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/yaml"
)

// row is an operation prepared for serving: what does not depend on the request is computed
// once.
type row struct {
	spec      *operation.Spec
	do        operation.Handler
	dialect   *dialect
	output    output
	session   string   // name of the session cookie
	headers   []string // headers copied into a call, canonical
	params    []string // placeholders of the path
	cookies   []string // that a call carries
	hasBody   bool
	visits    bool // a public read of the portal: visitors take turns
	document  bool // the body is a whole document
	file      bool // the body is a form with a file
	maxBody   int64
	maxDepth  int
	maxValues int
	bodyRate  int64 // negative: no minimum
	room      *load.Room
	yaml      yaml.Codec
	proxies   []netip.Prefix
	deadline  time.Duration
}

// callHeaders are copied into every call that has them.
var callHeaders = []string{"Accept", "Content-Type", "If-Match", "If-None-Match"}

func newRow(o *operation.Operation, cfg Config) (*row, error) {
	if cfg.YAML == nil && (o.Body == reflect.TypeFor[operation.Document]() || o.Out == reflect.TypeFor[operation.Rendition]()) {
		return nil, fmt.Errorf("http: %s: documents need a codec of YAML", o.ID)
	}
	out, err := outputOf(o)
	if err != nil {
		return nil, err
	}
	r := &row{spec: &o.Spec, do: cfg.Guard(o.Do), dialect: dialectOf(o.Surface), output: out,
		hasBody: o.Body != nil, document: o.Body == reflect.TypeFor[operation.Document](), file: o.TakesAttachment(), maxBody: cfg.MaxBody, maxDepth: cfg.MaxDepth, maxValues: cfg.MaxValues, bodyRate: cfg.BodyRate, room: cfg.Room, yaml: cfg.YAML, proxies: cfg.Proxies, deadline: cfg.Deadline}
	if r.session = operation.SessionCookie; o.BySession || o.Visited {
		r.session = cfg.PortalCookie
	}
	r.visits = r.dialect.portal && (o.Public || o.BySession) && !o.Early && !o.ChangesState() // probes do not wait, and writes are bounded where they are carried out
	r.headers = append(r.headers, callHeaders...)
	if r.dialect.portal {
		r.headers = append(r.headers, "User-Agent") // for the portal's journal
	}
	for _, p := range o.Params {
		switch p.In {
		case "path":
			r.params = append(r.params, p.Name)
		case "cookie":
			r.cookies = append(r.cookies, p.Name)
		case "header":
			r.headers = append(r.headers, textproto.CanonicalMIMEHeaderKey(p.Name))
		}
	}
	if o.MaxBody > 0 {
		r.maxBody = o.MaxBody
	}
	if o.Deadline > 0 {
		r.deadline = o.Deadline
	}
	return r, nil
}

// exchange is the state of one request and its answer in the chain.
type exchange struct {
	row  *row
	http *nethttp.Request
	call operation.Call
	load *load.Request // nil for a row without a body, except on the portal
	// answer holds the memory reservation of a large answer while it is sent; nil: there is
	// none.
	answer *load.Request

	// The answer.
	status    int // 500 until the answer is prepared, as after a panic
	mediaType string
	tag       string // entity tag without quotes, or ""
	encoding  string // the content encoding, or ""
	varies    bool   // by Accept-Encoding
	body      *buffer
	pieces    [][]byte // of a stream or a document, instead of body
	live      operation.Live
	retry     bool     // the client may retry soon
	wait      int      // seconds until the client may retry; 0: see retry
	cookies   []string // to set
	download  string   // name of the file to save, or ""
	extra     map[string]string
	listing   listing // the size of the list of which the answer shows a part; zero: no list

	answered []func(operation.Transcript) // functions that get the answer
}

// statusOf returns the status for an error.
func (x *exchange) statusOf(err error) int {
	if x.gone(err) {
		return statusGone
	}
	status, _ := answerTo(classify(err), x.row.spec.Style.Faults)
	return status
}

// decode makes the raw call. The typed input is decoded behind the guard, so that the guard,
// observers and the audit trail also see malformed requests.
func (r *row) decode(_ context.Context, req *nethttp.Request) (any, error) {
	x := &exchange{row: r, http: req, status: nethttp.StatusInternalServerError}
	x.call = operation.Call{Spec: r.spec, RawPath: req.URL.EscapedPath(), Remote: req.RemoteAddr, Peer: req.RemoteAddr, Token: r.dialect.token(req)}
	if len(r.proxies) > 0 {
		x.call.Remote = remote(req, r.proxies)
	}
	if req.Method == nethttp.MethodHead {
		x.call.Method = req.Method
	}
	if x.call.Token == "" && r.spec.Brokers && r.spec.Surface == operation.Management { // operations with Brokers also accept a secret in the header of the admin surface
		x.call.Token = req.Header.Get("Admin-Auth")
	}
	if len(req.Header["Cookie"]) > 0 {
		// An access key wins over a session: a client sends one on purpose, and pages of
		// other sites cannot.
		if r.spec.BySession || r.spec.Visited || r.dialect.browser && x.call.Token == "" {
			x.call.Session, x.call.Proof = x.cookie(r.session), req.Header.Get(operation.ProofHeader)
		}
		for _, name := range r.cookies {
			if x.call.Cookies == nil {
				x.call.Cookies = make(map[string]string, len(r.cookies))
			}
			x.call.Cookies[name] = x.cookie(name)
		}
	}
	x.call.Status, x.call.Answered = x.statusOf, func(hear func(operation.Transcript)) { x.answered = append(x.answered, hear) }
	if req.URL.RawQuery != "" {
		x.call.RawQuery = req.URL.RawQuery
		x.call.Query, x.call.Garbled = operation.ReadQuery(req.URL.RawQuery)
	}
	if len(r.params) > 0 {
		x.call.Path = make(map[string]string, len(r.params))
		for _, name := range r.params {
			x.call.Path[name] = req.PathValue(name)
		}
	}
	for _, name := range r.headers {
		values := req.Header[name]
		if len(values) == 0 {
			continue
		}
		if x.call.Header == nil {
			x.call.Header = make(map[string]string, len(r.headers))
		}
		x.call.Header[name] = strings.Join(values, ", ")
	}
	return x, nil
}

// remote returns the address of the caller: that of the peer, unless the peer is a trusted
// proxy. Then it is the last address in X-Forwarded-For that is not a trusted proxy: the
// caller may have forged the addresses before it.
func remote(req *nethttp.Request, proxies []netip.Prefix) string {
	peer, err := netip.ParseAddrPort(req.RemoteAddr)
	if err != nil || !trusted(peer.Addr(), proxies) {
		return req.RemoteAddr
	}
	named := strings.Split(strings.Join(req.Header["X-Forwarded-For"], ","), ",")
	for _, text := range slices.Backward(named) {
		addr, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			break
		}
		if !trusted(addr, proxies) {
			return addr.String()
		}
	}
	return req.RemoteAddr
}

func trusted(a netip.Addr, proxies []netip.Prefix) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Visitors returns a function that names the network that a request comes from. Where
// visitors take turns, all requests of a network share a turn. proxies are those of Config.
func Visitors(proxies []netip.Prefix) func(*nethttp.Request) string {
	return func(req *nethttp.Request) string { return operation.Network(remote(req, proxies)) }
}
