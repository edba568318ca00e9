package showcase

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/tryout"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
)

// Bounds of subscriptions from pages.
const (
	subscribedFor = 10 * time.Minute
	lookEvery     = 5 * time.Second // interval of checks whether the viewer may still have it
	saidAtOnce    = 1               // buffered messages for the page
)

// Subscribed is the events of a subscription, as server-sent events: an operation.Live.
type Subscribed struct {
	example []byte // the only event of an example

	events chan tryout.Event // closed after the last event
	look   *time.Ticker
	may    func(context.Context) error // checks whether the viewer may still have it
	close  func()
	over   bool
}

// Stream implements operation.Stream.
func (s *Subscribed) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	return "text/event-stream", "", [][]byte{s.example}, nil
}

// Next implements operation.Live.
func (s *Subscribed) Next(ctx context.Context) ([]byte, error) {
	if s.over {
		return nil, io.EOF
	}
	select {
	case e, ok := <-s.events:
		if !ok {
			return nil, io.EOF
		}
		return e, nil
	case <-s.look.C:
		if s.may(ctx) != nil {
			s.over = true
			return tryout.Failed("The subscription is over: log in, or ask for access again."), nil
		}
		return tryout.Pulse, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close implements operation.Live.
func (s *Subscribed) Close() { s.close() }

// subscribe opens a subscription at a gateway of a product.
func (s *Service) subscribe(ctx context.Context, in sending) (_ *Subscribed, err error) {
	if err := in.Body.CheckSubscription(); err != nil {
		return nil, err
	}
	t, err := s.tryable(ctx, in.trying)
	if err != nil {
		return nil, err
	}
	end, err := s.subscriptions.begin(s.Now(), t.user.ID)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	r, err := s.request(t, in.Body)
	if err != nil {
		return nil, err
	}
	talk, err := s.Relay.Talk(ctx, r, tryout.Protocols)
	if err != nil {
		return nil, told(err)
	}
	life, stop := context.WithTimeout(context.WithoutCancel(ctx), subscribedFor)
	out := &Subscribed{events: make(chan tryout.Event, saidAtOnce), look: time.NewTicker(lookEvery), may: func(ctx context.Context) error {
		_, err := s.tryable(ctx, in.trying)
		return err
	}}
	out.close = sync.OnceFunc(func() {
		stop()
		talk.Close()
		out.look.Stop()
		end()
	})
	context.AfterFunc(life, out.close) // also if the answer is never sent
	go out.hear(life, talk, tryout.Subscribe(talk.Protocol(), []byte(in.Body.Body)))
	return out, nil
}

// hear receives the messages of the gateway until the subscription ends.
func (s *Subscribed) hear(ctx context.Context, talk fetch.Conversation, sub *tryout.Subscription) {
	defer close(s.events)
	say := func(e tryout.Event) bool {
		select {
		case s.events <- e:
			return true
		case <-ctx.Done():
			return false
		}
	}
	err := talk.Send(ctx, sub.Begin())
	for over := false; err == nil && !over; {
		var text, answer []byte
		var e tryout.Event
		if text, err = talk.Receive(ctx); err != nil {
			break
		}
		if answer, e, over = sub.Hear(text); e != nil && !say(e) {
			return
		}
		if answer != nil {
			err = talk.Send(ctx, answer)
		}
	}
	switch {
	case err == nil:
	case errors.Is(err, fetch.ErrTooLarge):
		say(tryout.TooLarge)
	default:
		say(tryout.Failed("The gateway has ended the subscription."))
	}
}
