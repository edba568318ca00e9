// Package mail is the port to a mail transport.
package mail

import (
	"context"
	"errors"
)

// Message is one mail. A mail with Text and HTML has both as alternatives.
type Message struct {
	To      string // an address without a name
	Subject string
	Text    string
	HTML    string // "": plain text only
}

// Errors of attempts that may succeed later without any change of the mail.
var (
	// ErrAway means that no mail server could be reached, or that it ended the conversation
	// before it was told of the mail. Other mails would fail too.
	ErrAway = errors.New("no mail server can be reached")
	// ErrLater means that the server asks to send this mail later: it is busy, or accepts mails
	// of unknown senders only at a second attempt.
	ErrLater = errors.New("the mail server takes the mail later")
)

// Server is the configuration of a mail server that is set while the service runs.
type Server struct {
	Address  string // host:port
	Username string // "": without login
	Password string
	From     string // address of the sender
}

// Dial returns a Sender for a mail server. It does not connect yet.
type Dial func(Server) (Sender, error)

// Sender sends mail.
type Sender interface {
	// Send hands a message to a mail server, or returns an error; it returns when ctx ends. Its
	// errors are logged, so they contain neither the text nor the address.
	Send(ctx context.Context, m Message) error
}
