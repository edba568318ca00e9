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

// receive reads the body and converts it to JSON. The guard calls it when the caller is
// authenticated. The memory that the document needs is computed from the text before it is
// parsed into a tree.
func (x *exchange) receive(ctx context.Context) error {
	x.load.For(string(x.call.Scope.Org()))
	if err := x.readBody(ctx); err != nil {
		return err
	}
	// The row's style has the error texts for a document, or a form with a file.
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
	case mediaType == formType && !bytes.HasPrefix(bytes.TrimLeft(x.call.Body, " \t\r\n"), []byte("{")): // some clients send JSON with any content type
		err = x.fromForm(ctx, params["boundary"])
	default: // JSON, with any media type
		err = x.admit(ctx, len(x.call.Body), doc.Count(x.call.Body))
	}
	if err != nil {
		return err
	}
	// The decoder, behind the guard, refuses a text that is not JSON.
	body, most := x.call.Body, x.row.maxDepth
	if bytes.Count(body, []byte{'{'})+bytes.Count(body, []byte{'['}) > most && doc.Check(body, most) != nil && doc.Check(body, 0) == nil {
		return fault.New(fault.Invalid, operation.CodeMalformed, "nested deeper than %d levels", x.row.maxDepth)
	}
	return nil
}

// admit reserves memory for a document of this size and this number of values, or refuses
// it.
func (x *exchange) admit(ctx context.Context, bytes, values int) error {
	if values > x.row.maxValues {
		return fault.New(fault.TooLarge, codeTooLarge, "Request body too large: it holds more than %d values", x.row.maxValues)
	}
	return x.load.Work(ctx, int64(bytes), int64(values))
}

// mark is the byte order mark that some editors and shells put before a UTF-8 text. It is
// not part of the text.
var mark = []byte("\ufeff")

// free is how many bytes of a body are read before memory is reserved for all of it: a
// caller that sends nothing reserves no memory.
const free = 16 << 10

// readBody reads the body, up to the size limit and the deadline of the row.
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
	// The deadline also ends reading from a slow client. Transports without deadlines, as
	// in tests, have no slow clients.
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
		if ends && x.row.bodyRate >= 0 { // memory is reserved: the client has to keep the minimum rate
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

// take appends bytes from a reader until there are n bytes, or until the reader returns an
// error.
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

// timedBody is a body whose connection has deadlines.
type timedBody struct {
	io.ReadCloser
	connection *nethttp.ResponseController
}

// Bounds for reading an unwanted body: up to drained bytes are read to keep the connection
// for the next request, up to lingered bytes after the answer.
const (
	drained   = 64 << 10
	drainFor  = 5 * time.Second
	lingered  = 64 << 20
	lingerFor = 2 * time.Second
)

// leave keeps an answer from waiting for a body that was not read, or not to its end. It
// returns a function that the caller runs after the answer is sent.
func (x *exchange) leave(w nethttp.ResponseWriter) (after func()) {
	body, ok := x.http.Body.(timedBody)
	cut := x.status == nethttp.StatusRequestEntityTooLarge && x.call.Body == nil
	if !ok || x.row.hasBody && x.call.Incoming == nil && !cut {
		return func() {}
	}
	if x.http.ContentLength < 0 || x.http.ContentLength > drained {
		w.Header().Set("Connection", "close")
		// Many clients read the answer only after they have sent the whole body. They would
		// see a broken connection instead of the error. Clients that send Expect wait for
		// the answer first.
		return func() {
			if x.http.Header.Get("Expect") == "" && body.connection.Flush() == nil && body.connection.SetReadDeadline(time.Now().Add(lingerFor)) == nil {
				_, _ = io.CopyN(io.Discard, body, lingered) // the connection is closed in any case
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
