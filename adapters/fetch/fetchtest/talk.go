package fetchtest

import (
	"context"
	"fmt"

	"github.com/gatehouse-io/gatehouse/ports/fetch"
)

// Said returns a conversation in which the peer sends the texts, and then nothing.
func Said(protocol string, texts ...string) fetch.Conversation {
	return &said{protocol: protocol, texts: texts}
}

type said struct {
	protocol string
	texts    []string
}

func (s *said) Protocol() string { return s.protocol }

func (*said) Send(context.Context, []byte) error { return nil }

func (s *said) Receive(context.Context) ([]byte, error) {
	if len(s.texts) == 0 {
		return nil, fmt.Errorf("%w: the conversation is over", fetch.ErrUnreachable)
	}
	text := s.texts[0]
	s.texts = s.texts[1:]
	return []byte(text), nil
}

func (*said) Close() {}
