// Package fetch is the port through which the control plane sends HTTP requests to other
// services on behalf of a user: descriptions to import, examples, a gateway to try out. The
// caller decides which service may be asked. The adapter guards against responses that are too
// large, too slow or come from inside the network.
package fetch

import (
	"context"
	"errors"
	"fmt"
)

// Errors that a Fetcher returns, plain or wrapped. Their text may name the host, never headers
// or bodies.
var (
	ErrRequest     = errors.New("fetch: not a request that can be sent")
	ErrPrivate     = errors.New("fetch: the address is not a public one")
	ErrTooLarge    = errors.New("fetch: the answer is too large")
	ErrUnreachable = errors.New("fetch: no answer")
	// ErrUnconnected is an ErrUnreachable where nothing has been sent for certain.
	ErrUnconnected = fmt.Errorf("%w: no connection", ErrUnreachable)
)

// Request is an HTTP request.
type Request struct {
	Method string // "" is GET
	URL    string // absolute, http or https
	Header map[string]string
	Body   []byte
	// Trusted says that the operator has configured the host, so it may have a private address.
	// It is never set for an address that a user chose.
	Trusted bool
	// StatusOnly asks for status and headers only: the body is not read, and no redirect is
	// followed.
	StatusOnly bool
	// Still follows no redirect, not even to the same origin: the redirect is the answer.
	Still bool
	// Insecure does not verify the certificate of the server: an attacker in the network between
	// can then read and change the traffic.
	Insecure bool
}

// Answer is the response, with any status. A redirect to another origin is not followed: it is
// the answer.
type Answer struct {
	Status int
	Header map[string][]string // by canonical name
	Body   []byte
}

// Fetcher sends requests to other services.
type Fetcher interface {
	// Fetch returns the answer, or one of the errors above. It gives up when ctx ends, and at the
	// latest after a timeout of its own.
	Fetch(ctx context.Context, r Request) (Answer, error)
}

// Conversation is a WebSocket connection (RFC 6455). One goroutine
// may send while another one receives.
type Conversation interface {
	// Protocol returns the protocol that the other side has chosen, or "".
	Protocol() string
	// Send sends a text.
	Send(ctx context.Context, text []byte) error
	// Receive waits for the next text and returns it, or ErrTooLarge when the text is larger than
	// answers may be. Every error ends the conversation, including the end of ctx.
	Receive(ctx context.Context) ([]byte, error)
	// Close ends the conversation.
	Close()
}

// Talker begins conversations.
type Talker interface {
	// Talk begins a conversation in one of some protocols, or returns one of the errors above. It
	// uses only the URL, the headers, Trusted and Insecure of r. No redirect is followed.
	Talk(ctx context.Context, r Request, protocols []string) (Conversation, error)
}

// Relay is both a Fetcher and a Talker.
type Relay interface {
	Fetcher
	Talker
}
