package http

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"mime"
	nethttp "net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Media types of answers.
const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
	graphType   = "application/graphql"
	plainType   = "text/plain"
)

// statusGone is logged when the client disconnected before the answer. It is never sent.
const statusGone = 499

// succeed prepares the answer for an output, or returns why there is none.
func (x *exchange) succeed(v any) error {
	if s, ok := v.(operation.Stream); ok {
		return x.stream(s)
	}
	if r, ok := v.(operation.Rendition); ok {
		return x.rendition(r)
	}
	if e, ok := v.(operation.Entering); ok {
		_, cookies := e.Enters()
		for _, c := range cookies {
			x.cookies = append(x.cookies, written(c))
		}
	}
	if l, ok := v.(operation.Landing); ok && l.Location != "" { // the browser continues there
		x.extra = map[string]string{"Location": l.Location}
		x.status, x.mediaType = nethttp.StatusSeeOther, jsonType
		return nil
	}
	out := &x.row.output
	if t := reflect.TypeOf(v); t != out.of { // the row declares an interface as its output
		other := compile(t, x.row.spec.Style)
		out = &other
	}
	if out.tag != nil {
		x.tag = out.tag(v)
	}
	if done, err := x.precondition(); done || err != nil {
		return err
	}
	status := x.row.spec.Status
	if _, ok := v.(operation.Rehearsed); ok {
		status = nethttp.StatusOK // nothing was created, but there is a body
	}
	if status != nethttp.StatusNoContent {
		x.body = newBuffer()
		x.body.admit, x.body.turn = x.hold, x.turn
		x.body.tabs = x.row.dialect.portal && !x.row.spec.Compact
		if l, ok := v.(interface {
			Bounds() (total, page, size int)
		}); ok {
			x.listing.total, x.listing.page, x.listing.size = l.Bounds()
			x.listing.set = true
		}
		if err := out.write(x.body, v); err != nil {
			return err
		}
	}
	x.status, x.mediaType = status, jsonType
	return nil
}

// hold reserves memory for a large part of the answer; the reservation lasts until the part
// has been sent.
func (x *exchange) hold(bytes int) error {
	ctx, cancel := context.WithTimeout(x.http.Context(), x.row.deadline)
	defer cancel()
	if x.answer == nil {
		x.answer = x.roomFor(ctx)
	}
	return x.answer.Answer(ctx, int64(bytes))
}

// turn waits for a processor core before a part of a long list is encoded.
func (x *exchange) turn() (end func()) {
	ctx := x.http.Context()
	return x.roomFor(ctx).Turn(ctx)
}

// roomFor begins a memory request on behalf of the caller's organisation.
func (x *exchange) roomFor(ctx context.Context) *load.Request {
	_, q := x.row.room.Begin(ctx)
	q.For(string(x.call.Scope.Org()))
	return q
}

// stream prepares the answer for an output that encodes itself. The compressed form is
// another representation, so it has another strong tag (RFC 9110, 8.8.3.3).
func (x *exchange) stream(s operation.Stream) error {
	if e, ok := s.(operation.Elsewhere); ok && e.At() != "" {
		x.extra = map[string]string{"Location": e.At()}
		x.status, x.mediaType = nethttp.StatusTemporaryRedirect, jsonType
		return nil
	}
	mediaType, tag, plain, gzipped := s.Stream()
	if l, ok := s.(operation.Live); ok {
		x.live, x.status, x.mediaType = l, x.row.spec.Status, mediaType
		x.extra = map[string]string{"X-Accel-Buffering": "no"} // reverse proxies that know this header forward pieces at once
		return nil
	}
	x.tag, x.pieces = tag, plain
	if x.varies = gzipped != nil; x.varies && listed(x.http.Header["Accept-Encoding"], "gzip") {
		x.encoding, x.pieces = "gzip", gzipped
		if tag != "" {
			x.tag += "-gzip"
		}
	}
	if done, err := x.precondition(); done || err != nil {
		return err
	}
	if f, ok := s.(operation.File); ok {
		x.download = f.Download()
	}
	if h, ok := s.(operation.Headed); ok {
		x.extra = h.Header()
	}
	x.status, x.mediaType = x.row.spec.Status, mediaType
	return nil
}

// precondition compares the entity tag of the current representation with the conditional
// headers of a read. done means that the answer is prepared. Writes check inside their unit
// of work.
func (x *exchange) precondition() (done bool, err error) {
	if x.tag == "" || x.row.spec.Method != nethttp.MethodGet || x.call.Header["If-Match"] == "" && x.call.Header["If-None-Match"] == "" {
		return false, nil
	}
	m, err := operation.MatchOf(&x.call)
	if err != nil {
		return false, err
	}
	if m.Unchanged(x.tag) {
		x.status, x.pieces, x.encoding = nethttp.StatusNotModified, nil, ""
		return true, nil
	}
	return false, m.CheckTag(x.tag, true)
}

// fail prepares the answer for an error, and discards an answer that was prepared before.
func (x *exchange) fail(err error) {
	if x.body == nil {
		x.body = newBuffer()
	}
	x.body.text, x.body.more = x.body.text[:0], nil
	if x.live != nil {
		x.live.Close()
		x.live = nil
	}
	x.tag, x.encoding, x.varies, x.pieces, x.extra, x.download, x.cookies, x.listing = "", "", false, nil, nil, "", nil, listing{}
	f := classify(err)
	x.wait = f.Wait
	status, text := answerTo(f, x.row.spec.Style.Faults)
	x.status, x.mediaType, x.retry = status, jsonType, passing(f)
	if !x.row.dialect.portal && listed(x.http.Header["Accept"], problemType) {
		x.mediaType = problemType
		x.body.text = appendProblem(x.body.text, f, status, x.call.RequestID)
	} else {
		says := []string{text} // the row's own text in place of the fault's, or all messages of the fault
		if len(f.All) > 0 && text == f.Message {
			says = f.All
		}
		x.body.text = x.row.dialect.envelope(x.body.text, complaint{says, failureOf(x.row.spec, f, status)})
	}
	if slices.ContainsFunc(x.row.dialect.banned, func(words []byte) bool { return bytes.Contains(x.body.text, words) }) {
		x.mediaType = jsonType
		x.body.text = x.row.dialect.envelope(x.body.text[:0], complaint{texts: []string{nethttp.StatusText(status)}})
	}
	if x.gone(err) {
		x.status = statusGone
	}
}

// gone reports whether the error happened because the client disconnected.
func (x *exchange) gone(err error) bool {
	return x.http.Context().Err() != nil && errors.Is(err, context.Canceled)
}

// Header values that many answers share. They must not be modified.
var (
	isJSON     = []string{jsonType}
	noReferrer = []string{"no-referrer"}
	noSniff    = []string{"nosniff"}
	noStore    = []string{"no-store"}
	noCache    = []string{"no-cache"}
	revalidate = []string{"private, no-cache"}
	byEncoding = []string{"Accept-Encoding"}
	soon       = []string{"1"}
	aMinute    = []string{"60"}
	closing    = []string{"close"}
)

// write is go-kit's response encoder: it passes the answer to observers and sends it, a
// list piece by piece. When a later piece cannot be encoded, it aborts the connection, so
// that the client does not take half a list for a whole one.
func write(_ context.Context, w nethttp.ResponseWriter, answer any) error {
	x := answer.(*exchange)
	if len(x.answered) > 0 {
		asked, answers := x.http.Header.Clone(), nethttp.Header{}
		asked.Set("Host", x.http.Host)
		x.header(answers)
		t := operation.Transcript{Protocol: x.http.Proto, Header: asked, Answers: answers, Status: x.status, Body: x.pieces}
		if x.body != nil {
			t.Body = append([][]byte{x.body.text}, x.pieces...)
		}
		for _, hear := range x.answered {
			hear(t)
		}
	}
	x.header(w.Header())
	defer x.leave(w)() // runs last: it may wait, and no memory is reserved meanwhile
	defer x.answer.End()
	if x.live != nil {
		defer x.live.Close()
	}
	w.WriteHeader(x.status)
	if x.body != nil {
		defer x.body.release()
	}
	if x.http.Method == nethttp.MethodHead {
		return nil
	}
	for x.body != nil {
		if _, err := w.Write(x.body.text); err != nil || x.body.more == nil {
			break // all is sent, or the client has disconnected
		}
		x.body.text = x.body.text[:0]
		x.answer.End()
		if x.body.more() != nil {
			panic(nethttp.ErrAbortHandler)
		}
	}
	for _, p := range x.pieces {
		x.patient(w)
		_, _ = w.Write(p) // an error means that the client has disconnected
	}
	if x.live != nil {
		x.follow(w)
	}
	return nil
}

// header sets the headers, by their canonical names.
func (x *exchange) header(h nethttp.Header) {
	h["X-Request-Id"] = []string{x.call.RequestID}
	h["Referrer-Policy"], h["X-Content-Type-Options"], h["Cache-Control"] = noReferrer, noSniff, noStore
	if x.tag != "" {
		h["Etag"] = []string{`"` + x.tag + `"`}
		if x.row.spec.Method == nethttp.MethodGet {
			h["Cache-Control"] = revalidate
		}
	}
	if x.row.dialect.portal {
		h["Cache-Control"], h["Pragma"] = noStore, noCache
	}
	if x.listing.set {
		x.listing.header(h, x.http.URL)
	}
	for name, value := range x.extra {
		h[nethttp.CanonicalHeaderKey(name)] = []string{value}
	}
	if x.download != "" {
		h["Content-Disposition"] = []string{mime.FormatMediaType("attachment", map[string]string{"filename": strings.Map(plain, x.download)})}
	}
	if x.varies {
		h["Vary"] = byEncoding
	}
	if x.retry || x.status == nethttp.StatusServiceUnavailable {
		h["Retry-After"] = soon
	}
	if x.status == nethttp.StatusRequestTimeout {
		h["Connection"] = closing
	}
	if x.status == nethttp.StatusTooManyRequests {
		h["Retry-After"] = aMinute
	}
	if x.wait > 0 {
		h["Retry-After"] = []string{strconv.Itoa(x.wait)}
	}
	if x.cookies != nil {
		h["Set-Cookie"] = x.cookies
	}
	if x.status == nethttp.StatusNotModified || x.status == nethttp.StatusNoContent || x.status == nethttp.StatusSeeOther || x.status == nethttp.StatusTemporaryRedirect {
		return
	}
	if x.live == nil && (x.body == nil || x.body.more == nil) {
		n := 0
		if x.body != nil {
			n = len(x.body.text)
		}
		for _, p := range x.pieces {
			n += len(p)
		}
		h["Content-Length"] = []string{strconv.Itoa(n)}
	}
	if h["Content-Type"] = isJSON; x.mediaType != jsonType {
		h["Content-Type"] = []string{x.mediaType}
	}
	if x.encoding != "" {
		h["Content-Encoding"] = []string{x.encoding}
	}
}

// listed reports whether the client names exactly this media type or coding, with a weight
// other than zero (RFC 9110, 12.4.2).
func listed(headers []string, want string) bool {
	for name, weight := range weighed(headers) {
		if strings.EqualFold(name, want) && weight > 0 {
			return true
		}
	}
	return false
}

// weighed yields the values that the client names, each with its weight.
func weighed(headers []string) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for _, header := range headers {
			for item := range strings.SplitSeq(header, ",") {
				name, params, _ := strings.Cut(item, ";")
				weight := 1.0
				for p := range strings.SplitSeq(params, ";") {
					if name, value, ok := strings.Cut(p, "="); ok && strings.EqualFold(strings.TrimSpace(name), "q") {
						weight, _ = strconv.ParseFloat(strings.TrimSpace(value), 64) // an unparsable weight is 0
						break
					}
				}
				if !yield(strings.TrimSpace(name), weight) {
					return
				}
			}
		}
	}
}
