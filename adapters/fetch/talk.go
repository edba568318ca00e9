package fetch

import (
	"context"
	"errors"
	"fmt"
	nethttp "net/http"

	"github.com/coder/websocket"

	"github.com/gatehouse-io/gatehouse/ports/fetch"
)

// Talk implements fetch.Talker. Addresses are checked as for other requests.
func (f *Client) Talk(ctx context.Context, r fetch.Request, protocols []string) (fetch.Conversation, error) {
	r.Method, r.Body = nethttp.MethodGet, nil
	req, err := request(ctx, r)
	if err != nil {
		return nil, err
	}
	c := f.by(r)
	dialling, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	connection, resp, err := websocket.Dial(dialling, req.URL.String(), &websocket.DialOptions{ //nolint:bodyclose // the library closes it
		HTTPClient: &nethttp.Client{Transport: c.Transport, CheckRedirect: noRedirection},
		HTTPHeader: req.Header, Host: req.Host, Subprotocols: protocols,
	})
	if err != nil {
		if resp != nil { // the text of the error quotes the answer
			return nil, fmt.Errorf("%s: %w: answer %d", req.URL.Host, fetch.ErrUnreachable, resp.StatusCode)
		}
		return nil, explain(dialling, req.URL.Host, err)
	}
	connection.SetReadLimit(f.maxBytes)
	return conversation{connection, req.URL.Host}, nil
}

// by returns the HTTP client for a request.
func (f *Client) by(r fetch.Request) *nethttp.Client {
	by := f.public
	if r.Trusted {
		by = f.trusted
	}
	if r.Insecure {
		return by.insecure
	}
	return by.careful
}

type conversation struct {
	*websocket.Conn
	host string
}

func (c conversation) Protocol() string { return c.Subprotocol() }

func (c conversation) Send(ctx context.Context, text []byte) error {
	if err := c.Write(ctx, websocket.MessageText, text); err != nil {
		return explain(ctx, c.host, err)
	}
	return nil
}

func (c conversation) Receive(ctx context.Context) ([]byte, error) {
	_, text, err := c.Read(ctx)
	if websocket.CloseStatus(err) == websocket.StatusMessageTooBig || errors.Is(err, websocket.ErrMessageTooBig) {
		return nil, fmt.Errorf("%s: %w", c.host, fetch.ErrTooLarge)
	}
	if err != nil {
		return nil, explain(ctx, c.host, err)
	}
	return text, nil
}

func (c conversation) Close() { _ = c.CloseNow() }
