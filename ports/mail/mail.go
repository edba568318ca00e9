// Package mail is the port to what sends mail to people.
package mail

import "context"

// Message is one mail.
type Message struct {
	To      string // an address, and nothing else
	Subject string
	Text    string
}

// Sender sends mail.
type Sender interface {
	// Send hands a message to a mail server, or returns an error; it returns when ctx
	// ends. Its errors are logged: they hold neither the text nor the address.
	Send(ctx context.Context, m Message) error
}
