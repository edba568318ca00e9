package portal

import "net/http"

// crowded is the page for a visitor who did not get a turn in time. It is constant, so that it
// costs nothing.
const crowded = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Too many visitors</title><p>Too many people visit this portal just now. Try again in a moment.</p></html>`

// hold puts the page's operations under one turn, and returns a function that releases its
// reservations.
func (v *visit) hold() (end func()) {
	if v.Room == nil {
		return func() {}
	}
	ctx, q := v.Room.Begin(v.r.Context())
	v.r, v.load = v.r.WithContext(ctx), q
	return q.End
}

// take waits for the turn of the page, which covers its operations, unless the page has one
// already.
func (v *visit) take() error {
	if v.load == nil {
		return nil
	}
	return v.load.Visit(v.r.Context(), v.Visitor(v.r))
}

// late answers that the page did not get a turn in time.
func (v *visit) late() {
	v.w.Header().Set("Retry-After", "1")
	v.send(http.StatusServiceUnavailable, []byte(crowded))
}
