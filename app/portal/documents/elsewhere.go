package documents

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// CodeElsewhere is the code of the fault for a description at another address that cannot
// be read there.
const CodeElsewhere = "document.elsewhere"

// Bounds of descriptions at other addresses.
const (
	// MaxElsewhere is how many bytes of one are read at most.
	MaxElsewhere = 4 << 20

	fresh         = 5 * time.Minute  // for how long one is not asked for again
	afterFailure  = 30 * time.Second // likewise, when it could not be read
	maxRemembered = 100
	maxHeld       = 32 << 20 // bytes of all that are remembered
)

// Elsewhere reads descriptions that are kept at other addresses, and remembers them for a
// while: however many look at a page, the address is asked now and then.
type Elsewhere struct {
	Config
	Fetcher fetch.Fetcher // says which addresses may be asked
	Now     system.Clock

	mu    sync.Mutex
	known map[string]*distant
}

// distant is a description at another address. Its lock is held while it is read.
type distant struct {
	mu   sync.Mutex
	till time.Time
	file file
	err  error
}

// Read returns the description at an address, and its media type. What was read before
// stands in for one that cannot be read now.
func (e *Elsewhere) Read(ctx context.Context, address string) (text []byte, mediaType string, err error) {
	d := e.at(address)
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.Now().Before(d.till) {
		return d.file.text, d.file.mediaType, d.err
	}
	a, err := e.Fetcher.Fetch(ctx, fetch.Request{URL: address, Header: map[string]string{"Accept": "application/json, application/yaml, */*;q=0.5"}})
	if err == nil && (a.Status < 200 || a.Status > 299) {
		err = fault.New(fault.Unavailable, CodeElsewhere, "the answer has the status %d", a.Status)
	}
	var f file
	if err == nil {
		f, err = e.readOAS(ctx, operation.Attachment{Content: a.Body})
	}
	if err != nil { // the reason names no answer: it may be that of a host which is not for everybody
		err = fault.New(fault.Unavailable, CodeElsewhere, "the description is kept at %s, and cannot be read there now", address).Because(err)
	}
	switch {
	case err == nil:
		d.file, d.err, d.till = f, nil, e.Now().Add(fresh)
		e.forget(address, d)
	case ctx.Err() != nil: // who asked is gone: that says nothing about the address
		return nil, "", err
	default:
		d.till = e.Now().Add(afterFailure)
		if d.file.text == nil {
			d.err = err
		}
	}
	return d.file.text, d.file.mediaType, d.err
}

// at returns what is remembered of an address.
func (e *Elsewhere) at(address string) *distant {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d, is := e.known[address]; is {
		return d
	}
	if e.known == nil || len(e.known) >= maxRemembered {
		e.known = map[string]*distant{}
	}
	d := &distant{}
	e.known[address] = d
	return d
}

// forget drops all others when a description makes them too large together.
func (e *Elsewhere) forget(address string, with *distant) {
	e.mu.Lock()
	defer e.mu.Unlock()
	held := 0
	for at, d := range e.known {
		if at == address {
			held += len(with.file.text)
		} else if d.mu.TryLock() { // one that is being read counts when it was
			held += len(d.file.text)
			d.mu.Unlock()
		}
	}
	if held > maxHeld {
		e.known = map[string]*distant{address: with}
	}
}

// Elsewhere reports where the description of a readable is that is kept at another
// address; "": it is not, or it is no OpenAPI description.
func (d Readable) Elsewhere() string {
	if d.Form != document.OAS {
		return ""
	}
	return d.Address
}
