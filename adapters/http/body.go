package http

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	nethttp "net/http"
	"os"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

const codeTooLarge = "body.too_large"

var tooLarge = fault.New(fault.TooLarge, codeTooLarge, "Request body too large")

// receive reads the body and brings it into the form of JSON. The guard calls it
// when the caller is known. What it may cost is worked out from the text before a
// tree is made of it.
func (x *exchange) receive(ctx context.Context) error {
	x.load.For(string(x.call.Scope.Org()))
	if err := x.readBody(ctx); err != nil {
		return err
	}
	// What is wrong with a document, or a form with a file, its row says.
	var err error
	var mediaType string
	var params map[string]string
	if x.row.file || x.row.document {
		mediaType, params, _ = mime.ParseMediaType(x.call.Header["Content-Type"])
	}
	if !x.row.file {
		x.call.Body = bytes.TrimPrefix(x.call.Body, mark)
	}
	switch {
	case x.row.file:
		err = x.attach(ctx, mediaType, params["boundary"])
	case yamlTypes[mediaType], graphTypes[mediaType] && len(x.call.Body) > 0 && doc.Check(x.call.Body, 0) != nil:
		err = x.fromYAML(ctx, x.call.Body)
	case mediaType == formType && !bytes.HasPrefix(bytes.TrimLeft(x.call.Body, " \t\r\n"), []byte("{")): // some clients send JSON under any type
		err = x.fromForm(ctx, params["boundary"])
	default: // JSON, whatever media type it claims to be
		err = x.admit(ctx, len(x.call.Body), doc.Count(x.call.Body))
	}
	if err != nil {
		return err
	}
	// The decoder, behind the guard, refuses a text that is no JSON at all.
	body, most := x.call.Body, x.row.maxDepth
	if bytes.Count(body, []byte{'{'})+bytes.Count(body, []byte{'['}) > most && doc.Check(body, most) != nil && doc.Check(body, 0) == nil {
		return fault.New(fault.Invalid, operation.CodeMalformed, "nested deeper than %d levels", x.row.maxDepth)
	}
	return nil
}

// admit makes room for a document of so many bytes and values, or refuses it.
func (x *exchange) admit(ctx context.Context, bytes, values int) error {
	if values > x.row.maxValues {
		return fault.New(fault.TooLarge, codeTooLarge, "Request body too large: it holds more than %d values", x.row.maxValues)
	}
	return x.load.Work(ctx, int64(bytes), int64(values))
}

// mark is what some editors and shells put before a text, to say that it is UTF-8. It is no
// part of the text.
var mark = []byte("\ufeff")

// free is how much of a body is read before there must be room for all of it: a
// caller who sends nothing takes no room.
const free = 16 << 10

// readBody reads what the client sends, up to the limit and the deadline of the
// row.
func (x *exchange) readBody(ctx context.Context) error {
	size := x.http.ContentLength
	if size > x.row.maxBody {
		return tooLarge
	}
	if x.http.Body == nil || size == 0 {
		return nil
	}
	if size < 0 {
		size = x.row.maxBody + 1
	}
	// Reading ends at the deadline, however slowly a client sends. Transports that know no
	// deadlines, as in tests, have no slow clients.
	timed, ok := x.http.Body.(timedBody)
	end, limited := ctx.Deadline()
	ends := ok && limited && timed.connection.SetReadDeadline(end) == nil
	if ends {
		defer func() { _ = timed.connection.SetReadDeadline(time.Time{}) }()
	}
	body, err := take(x.http.Body, make([]byte, 0, min(size, free)+1), free)
	if err == nil && len(body) >= free {
		if err := x.load.Text(ctx, size); err != nil {
			return err
		}
		if x.http.ContentLength > 0 {
			body = append(make([]byte, 0, size+1), body...)
		}
		rest := io.Reader(x.http.Body)
		if ends && x.row.bodyRate >= 0 { // it has taken room, and has to keep pace
			rest = &pace{Reader: timed, connection: timed.connection, rate: x.row.bodyRate, begun: time.Now(), end: end}
		}
		body, err = take(rest, body, size)
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return unreadable(err)
	case int64(len(body)) > x.row.maxBody:
		return tooLarge
	case int64(len(body)) < x.http.ContentLength:
		return unreadable(io.ErrUnexpectedEOF)
	}
	x.call.Body = body
	return nil
}

// take appends what a reader has until there are n bytes, or its error.
func take(r io.Reader, b []byte, n int64) ([]byte, error) {
	for int64(len(b)) < n {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		got, err := r.Read(b[len(b):min(int64(cap(b)), n)])
		if b = b[:len(b)+got]; err != nil {
			return b, err
		}
	}
	return b, nil
}

// timedBody is a body whose connection can be told how long to wait for it.
type timedBody struct {
	io.ReadCloser
	connection *nethttp.ResponseController
}

// Bounds of what is read of an unwanted body: so much keeps the
// connection for the next request, or is taken behind the answer.
const (
	drained   = 64 << 10
	drainFor  = 5 * time.Second
	lingered  = 64 << 20
	lingerFor = 2 * time.Second
)

// leave sees to it that an answer without a look at the body, or at all of it, does not
// wait for the body. It returns what is to be done behind the answer.
func (x *exchange) leave(w nethttp.ResponseWriter) (after func()) {
	body, ok := x.http.Body.(timedBody)
	cut := x.status == nethttp.StatusRequestEntityTooLarge && x.call.Body == nil
	if !ok || x.row.hasBody && x.call.Incoming == nil && !cut {
		return func() {}
	}
	if x.http.ContentLength < 0 || x.http.ContentLength > drained {
		w.Header().Set("Connection", "close")
		// Many clients look for no answer before they have sent all, and would see a broken
		// connection in place of the reason. Those who ask before they send do not.
		return func() {
			if x.http.Header.Get("Expect") == "" && body.connection.Flush() == nil && body.connection.SetReadDeadline(time.Now().Add(lingerFor)) == nil {
				_, _ = io.CopyN(io.Discard, body, lingered) // the connection ends, whatever comes
			}
		}
	}
	_ = body.connection.SetReadDeadline(time.Now().Add(drainFor))
	return func() {}
}

func unreadable(err error) error {
	if _, ok := errors.AsType[*nethttp.MaxBytesError](err); ok {
		return tooLarge
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fault.New(fault.Unavailable, "deadline", timedOut).Because(err)
	}
	return fault.New(fault.Invalid, "body.unreadable", "The request body could not be read").Because(err)
}
