// Package fetch is the port through which the control plane asks other services
// something over HTTP on behalf of a user: descriptions to import, examples, a
// gateway to try out. Who may be asked is decided before; the adapter guards
// against answers that are too large, too slow or come from inside the network.
package fetch

import (
	"context"
	"errors"
	"fmt"
)

// Errors a Fetcher reports, plain or wrapped. Their text may name the host that
// was asked, never headers or bodies.
var (
	ErrRequest     = errors.New("fetch: not a request that can be sent")
	ErrPrivate     = errors.New("fetch: the address is not a public one")
	ErrTooLarge    = errors.New("fetch: the answer is too large")
	ErrUnreachable = errors.New("fetch: no answer")
	// ErrUnconnected is an ErrUnreachable of which is known that nothing has been sent.
	ErrUnconnected = fmt.Errorf("%w: no connection", ErrUnreachable)
)

// Request is what is asked.
type Request struct {
	Method string // "" is GET
	URL    string // absolute, http or https
	Header map[string]string
	Body   []byte
	// Trusted says that the operator has named the host, so that it may have a
	// private address. It is never set for an address that a user chose.
	Trusted bool
	// StatusOnly asks for status and headers: the body is left alone, and no redirection
	// is followed.
	StatusOnly bool
	// Still follows no redirection, to whatever origin: the redirection is the answer.
	Still bool
	// Insecure does not verify the certificate of the server: an attacker in the network
	// between can then read and change what is sent.
	Insecure bool
}

// Answer is what came back, whatever its status. A redirection to another
// origin is not followed: it is the answer.
type Answer struct {
	Status int
	Header map[string][]string // by canonical name
	Body   []byte
}

// Fetcher asks another service.
type Fetcher interface {
	// Fetch returns the answer, or one of the errors above. It gives up when ctx
	// ends, and in any case after a time of its own.
	Fetch(ctx context.Context, r Request) (Answer, error)
}

// Conversation is a WebSocket connection (RFC 6455). One goroutine
// may send while another one receives.
type Conversation interface {
	// Protocol returns the protocol that the other side has chosen, or "".
	Protocol() string
	// Send sends a text.
	Send(ctx context.Context, text []byte) error
	// Receive waits for the next text and returns it; ErrTooLarge when that is larger than
	// answers may be. An error ends the conversation, also that ctx is over.
	Receive(ctx context.Context) ([]byte, error)
	// Close ends the conversation.
	Close()
}

// Talker begins conversations.
type Talker interface {
	// Talk begins a conversation in one of some protocols, or returns one of the errors
	// above. Of a Request it takes the address, the headers, Trusted and Insecure. No
	// redirection is followed.
	Talk(ctx context.Context, r Request, protocols []string) (Conversation, error)
}

// Relay does both.
type Relay interface {
	Fetcher
	Talker
}
