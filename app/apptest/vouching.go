package apptest

import (
	"context"
	"fmt"
	"net/url"
	"sync"

	"github.com/gatehouse-io/gatehouse/ports/login"
)

// Vouching is an identity provider for tests of code around one. The code "ada" logs in
// ada@example.com, "away" fails as if the provider were unreachable, and "nobody" is
// refused.
type Vouching struct {
	mu    sync.Mutex
	state string
}

var _ login.Provider = (*Vouching)(nil)

// Begin implements login.Provider.
func (v *Vouching) Begin(_ context.Context, c login.Client, a login.Attempt) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state = a.State
	return "https://login.example.com/authorize?" + url.Values{"client_id": {c.ID}, "redirect_uri": {c.Redirect}, "state": {a.State}}.Encode(), nil
}

// State returns the state parameter of the last login that has begun.
func (v *Vouching) State() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state
}

// Finish implements login.Provider.
func (*Vouching) Finish(_ context.Context, _ login.Client, _ login.Attempt, r login.Return, _ []string) (map[string]any, error) {
	switch r.Code {
	case "away":
		return nil, fmt.Errorf("%w: a request for a token", login.ErrAway)
	case "nobody":
		return nil, fmt.Errorf("%w: the token is too old", login.ErrRefused)
	}
	return map[string]any{"sub": r.Code, "email": r.Code + "@example.com", "email_verified": true, "name": r.Code}, nil
}
