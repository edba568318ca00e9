package http

import (
	"errors"
	"io"
	nethttp "net/http"
	"os"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// BodyRate is the default minimum rate, in bytes a second, of a body with reserved
// memory.
const BodyRate = 64 << 10

// headStart is how long a body may take before its rate is checked.
const headStart = 2 * time.Second

var tooSlow = fault.New(fault.TooSlow, "body.too_slow", "The request body arrived too slowly and was not read to its end; send it again over a faster connection")

// pace is a body with reserved memory, which other requests need too: it must arrive at
// a minimum average rate, after a head start. Each read has a deadline of its own, so
// that no timer is needed.
type pace struct {
	io.Reader
	connection *nethttp.ResponseController
	rate       int64
	begun, end time.Time // end: the deadline of the row
	got        int64
}

// Read implements io.Reader.
func (p *pace) Read(b []byte) (int, error) {
	due := p.begun.Add(headStart + time.Duration(float64(p.got)/float64(p.rate)*float64(time.Second)))
	if due.After(p.end) {
		due = p.end
	}
	_ = p.connection.SetReadDeadline(due) // setting it worked before
	n, err := p.Reader.Read(b)
	p.got += int64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) && due.Before(p.end) {
		err = tooSlow.Because(err)
	}
	return n, err
}
