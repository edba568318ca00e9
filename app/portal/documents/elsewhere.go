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

// CodeElsewhere is the fault code for a description on another host that cannot be read.
const CodeElsewhere = "document.elsewhere"

// Bounds of descriptions on other hosts.
const (
	// MaxElsewhere is the maximum size of a description, in bytes.
	MaxElsewhere = 4 << 20

	fresh         = 5 * time.Minute  // for how long a description is cached
	afterFailure  = 30 * time.Second // for how long a failure is cached
	maxRemembered = 100
	maxHeld       = 32 << 20 // bytes of all cached descriptions
)

// Elsewhere fetches and caches descriptions on other hosts, so that the number of
// requests does not depend on the number of visitors.
type Elsewhere struct {
	Config
	Fetcher fetch.Fetcher // restricts the addresses
	Now     system.Clock

	mu    sync.Mutex
	known map[string]*distant
}

// distant is a description on another host. Its mutex is held while it is fetched.
type distant struct {
	mu   sync.Mutex
	till time.Time
	file file
	err  error
}

// Read returns the description at an address, and its media type. If it cannot be fetched
// now, Read returns the last version.
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
	if err != nil { // the reason does not quote the answer, which may come from an internal host
		err = fault.New(fault.Unavailable, CodeElsewhere, "the description is kept at %s, and cannot be read there now", address).Because(err)
	}
	switch {
	case err == nil:
		d.file, d.err, d.till = f, nil, e.Now().Add(fresh)
		e.forget(address, d)
	case ctx.Err() != nil: // the caller cancelled, which says nothing about the address
		return nil, "", err
	default:
		d.till = e.Now().Add(afterFailure)
		if d.file.text == nil {
			d.err = err
		}
	}
	return d.file.text, d.file.mediaType, d.err
}

// at returns the cache entry of an address.
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

// forget drops all other entries when a description makes the cache too large.
func (e *Elsewhere) forget(address string, with *distant) {
	e.mu.Lock()
	defer e.mu.Unlock()
	held := 0
	for at, d := range e.known {
		if at == address {
			held += len(with.file.text)
		} else if d.mu.TryLock() { // an entry that is being fetched was counted before
			held += len(d.file.text)
			d.mu.Unlock()
		}
	}
	if held > maxHeld {
		e.known = map[string]*distant{address: with}
	}
}

// Elsewhere returns the address of an OpenAPI description on another host; "": there is
// none, or it is not an OpenAPI description.
func (d Readable) Elsewhere() string {
	if d.Form != document.OAS {
		return ""
	}
	return d.Address
}
