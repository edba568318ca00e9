package guard

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Bounds of what is kept of texts that callers choose.
const (
	maxURL       = 1024
	maxRequestID = 128
)

// Attribution returns what the commits of a call are attributed to. Of a call that only
// reads it says no more than who.
func Attribution(c *operation.Call) store.Attribution {
	by := store.Attribution{Actor: c.Principal.ID, Operation: c.Spec.ID, Request: bounded(c.RequestID, maxRequestID)}
	if c.Spec.Intent != access.Read {
		by = Described(by, c)
	}
	return by
}

// Described adds to an attribution what was asked for, and from where.
func Described(by store.Attribution, c *operation.Call) store.Attribution {
	if at, err := netip.ParseAddrPort(c.Remote); err == nil {
		by.From = at.Addr().Unmap().String() // without its port
	} else {
		by.From = bounded(c.Remote, 64)
	}
	by.User, by.Method, by.URL, by.Status = c.Principal.Email, c.Verb(), bounded(address(c), maxURL), c.Spec.Status
	return by
}

func bounded(text string, n int) string {
	if len(text) > n {
		text = text[:n]
	}
	return strings.ToValidUTF8(text, "?")
}

// address returns path and query of a call, credentials masked: those that have the
// name of one, in the path or in the query, and those in addresses that are values.
func address(c *operation.Call) string {
	hides := func(name string) bool { return redact.Name(name) || slices.Contains(c.Spec.Redact, name) }
	path, query := c.Shown(hides), c.RawQuery
	if query == "" {
		query = c.Query.Encode()
	}
	if query == "" {
		return path
	}
	return path + "?" + redact.Query(query, hides)
}
