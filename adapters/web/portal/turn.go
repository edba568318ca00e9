package portal

import "net/http"

// crowded is the page of a visitor whose turn did not come. It is made of nothing, so that
// it costs nothing.
const crowded = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Too many visitors</title><p>Too many people visit this portal just now. Try again in a moment.</p></html>`

// hold lets the operations that work for the page belong to it, and returns what gives back
// what it holds in the end.
func (v *visit) hold() (end func()) {
	if v.Room == nil {
		return func() {}
	}
	ctx, q := v.Room.Begin(v.r.Context())
	v.r, v.load = v.r.WithContext(ctx), q
	return q.End
}

// take waits for the turn of the page, which covers the operations that work for it, unless it
// has one.
func (v *visit) take() error {
	if v.load == nil {
		return nil
	}
	return v.load.Visit(v.r.Context(), v.Visitor(v.r))
}

// late says that the turn of the page did not come.
func (v *visit) late() {
	v.w.Header().Set("Retry-After", "1")
	v.send(http.StatusServiceUnavailable, []byte(crowded))
}
