package http

import (
	"cmp"
	"context"
	"errors"
	nethttp "net/http"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/yaml"
)

// statuses are the HTTP statuses of the kinds of faults, on every surface; rows declare
// exceptions.
var statuses = [...]int{
	fault.Internal:        nethttp.StatusInternalServerError,
	fault.Invalid:         nethttp.StatusBadRequest,
	fault.Unauthenticated: nethttp.StatusUnauthorized,
	fault.Denied:          nethttp.StatusForbidden,
	fault.NotFound:        nethttp.StatusNotFound,
	fault.Conflict:        nethttp.StatusConflict,
	fault.Stale:           nethttp.StatusPreconditionFailed,
	fault.Unavailable:     nethttp.StatusServiceUnavailable,
	fault.TooLarge:        nethttp.StatusRequestEntityTooLarge,
	fault.TooMany:         nethttp.StatusTooManyRequests,
	fault.TooSlow:         nethttp.StatusRequestTimeout,
}

// Codes of errors that are not faults; rows may define their own answers for them.
const (
	codeAway     = "store.unavailable"
	codeDeadline = "deadline"
	codeFull     = "store.full"
	codeGone     = "store.gone"
	codeFilled   = "organisation.full" // of the guard
)

// byCode are the statuses of faults whose kind is not specific enough.
var byCode = map[string]int{codeFull: nethttp.StatusInsufficientStorage, codeFilled: nethttp.StatusInsufficientStorage}

// Texts of errors that are not faults.
const (
	internalError    = "Internal error"
	storeUnreachable = "The store is not reachable at the moment; try again"
	diskFull         = "The disk of the store is full and nothing was stored; make room there and try again"
	fileGone         = "The database file has been moved or deleted and nothing was stored; put it back, or restore a backup, and restart the service"
	fileReplaced     = "Another file is in the place of the database file and nothing was stored; put the right one back, and restart the service"
	fileElsewhere    = "Another process serves from the database file and nothing was stored; end one of the two"
	fileHidden       = "The database file cannot be accessed and nothing was stored; check its folder and the access rights"
	fileTrouble      = "The database file cannot be read or written at the moment; the log says why"
	writeTooLong     = "The write would keep all others waiting and was refused; send less at once"
	timedOut         = "Timed out"
	cancelled        = "Cancelled; try again"
)

// classify converts an error to a fault. The text of an error that was not a fault becomes
// the cause, which is only logged.
func classify(err error) *fault.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	switch {
	case errors.Is(err, store.ErrFull):
		return fault.New(fault.Unavailable, codeFull, diskFull).Because(err)
	case errors.Is(err, store.ErrReplaced):
		return fault.New(fault.Unavailable, codeGone, fileReplaced).Because(err)
	case errors.Is(err, store.ErrElsewhere):
		return fault.New(fault.Unavailable, codeGone, fileElsewhere).Because(err)
	case errors.Is(err, store.ErrHidden):
		return fault.New(fault.Unavailable, codeGone, fileHidden).Because(err)
	case errors.Is(err, store.ErrGone):
		return fault.New(fault.Unavailable, codeGone, fileGone).Because(err)
	case errors.Is(err, store.ErrFile):
		return fault.New(fault.Unavailable, codeAway, fileTrouble).Because(err)
	case errors.Is(err, store.ErrUnavailable):
		return fault.New(fault.Unavailable, codeAway, storeUnreachable).Because(err)
	case errors.Is(err, store.ErrTooLong):
		return fault.New(fault.Unavailable, "store.too_long", writeTooLong).Because(err)
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Unavailable, codeDeadline, timedOut).Because(err)
	case errors.Is(err, context.Canceled):
		return fault.New(fault.Unavailable, "cancelled", cancelled).Because(err)
	}
	return fault.New(fault.Internal, "", internalError).Because(err)
}

// passing reports whether a fault is temporary and ends when the store is back, with any
// status that a row gives it.
func passing(f *fault.Error) bool {
	return f.Code == codeAway || f.Code == codeDeadline || f.Code == codeGone
}

// codeOf returns the code of a fault, or the name of its kind.
func codeOf(f *fault.Error) string { return cmp.Or(f.Code, f.Kind.String()) }

// answerTo returns status and compatible text for a fault: from the row's entry for its
// code, else from the row's entry for its kind, else from the defaults of all surfaces.
func answerTo(f *fault.Error, own map[string]operation.Answer) (status int, text string) {
	a := ownAnswer(f, own)
	kind := f.Kind
	if int(kind) >= len(statuses) {
		kind = fault.Internal
	}
	if a.Text == "" {
		a.Text = "{message}"
	}
	return cmp.Or(a.Status, byCode[f.Code], statuses[kind]), strings.ReplaceAll(a.Text, "{message}", f.Message)
}

// ownAnswer returns the row's own answer: for a body that no parser accepts, else for the
// code of the fault, else for its kind.
func ownAnswer(f *fault.Error, own map[string]operation.Answer) operation.Answer {
	if a, ok := own[operation.Unparsed]; ok && f.Code == operation.CodeMalformed && (errors.Is(f, doc.ErrSyntax) || errors.Is(f, yaml.ErrSyntax)) {
		return a
	}
	if a, ok := own[f.Code]; ok {
		return a
	}
	return own[f.Kind.String()]
}

// appendProblem appends a fault in the format of RFC 9457. Its detail is the fault's own
// message: the compatible texts of some rows are less specific.
func appendProblem(b []byte, f *fault.Error, status int, requestID string) []byte {
	member := func(name, value string) {
		b = doc.AppendString(append(append(append(b, ',', '"'), name...), '"', ':'), value)
	}
	b = append(b, `{"type":"about:blank"`...)
	member("title", nethttp.StatusText(status))
	b = strconv.AppendInt(append(b, `,"status":`...), int64(status), 10)
	member("detail", f.Message)
	member("instance", "urn:request:"+requestID)
	member("code", codeOf(f))
	if f.Field != "" {
		member("field", f.Field)
	}
	member("request_id", requestID)
	return append(b, '}')
}
