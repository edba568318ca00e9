// Package mail is the port to what sends mail to people.
package mail

import (
	"context"
	"errors"
)

// Message is one mail. One with both forms has them as alternatives.
type Message struct {
	To      string // an address, and nothing else
	Subject string
	Text    string
	HTML    string // "": plain text only
}

// What an attempt came to that may go well later, without any change of the mail.
var (
	// ErrAway means that no mail server could be reached, or that it ended the conversation
	// before it was told of the mail: others would fare no better.
	ErrAway = errors.New("no mail server can be reached")
	// ErrLater means that the server takes this mail later, as it says: it is busy, or takes
	// mails of strangers only when they come again.
	ErrLater = errors.New("the mail server takes the mail later")
)

// Server is a mail server that is chosen while the service runs.
type Server struct {
	Address  string // host:port
	Username string // "": without login
	Password string
	From     string // address of the sender
}

// Dial returns what sends mail through a server. Nothing is connected yet.
type Dial func(Server) (Sender, error)

// Sender sends mail.
type Sender interface {
	// Send hands a message to a mail server, or returns an error; it returns when ctx
	// ends. Its errors are logged: they hold neither the text nor the address.
	Send(ctx context.Context, m Message) error
}
