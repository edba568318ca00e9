package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/adapters/redis"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/core/signal"
)

// listener is a subscriber of one Redis channel, as a gateway is.
type listener struct {
	sub   *goredis.PubSub
	heard <-chan *goredis.Message
}

func listen(ctx context.Context, client *goredis.Client, channel string) (*listener, error) {
	l := &listener{sub: client.Subscribe(ctx, channel)}
	if _, err := l.sub.Receive(ctx); err != nil {
		return nil, errors.Join(err, l.sub.Close())
	}
	l.heard = l.sub.Channel()
	return l, nil
}

// await waits for a message for which meant returns true.
func (l *listener) await(ctx context.Context, meant func(text string) bool) error {
	timeout := time.After(patience)
	for {
		select {
		case m, open := <-l.heard:
			if !open {
				return errors.New("the subscription has ended")
			}
			if meant(m.Payload) {
				return nil
			}
		case <-timeout:
			return errors.New("no notification came")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// announceRows measures the delay from writes to a Redis subscriber.
func announceRows(ctx context.Context, b *bench, k backend) (rows []row, err error) {
	o, err := k.open(ctx, b)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	publisher, err := redis.Open(redis.Config{Addrs: []string{b.redis}, Grace: time.Millisecond, Logger: quiet()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, publisher.Close()) }()
	client := goredis.NewClient(&goredis.Options{Addr: b.redis, Protocol: 2})
	defer func() { err = errors.Join(err, client.Close()) }()
	gateway, err := listen(ctx, client, signal.Channel)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, gateway.sub.Close()) }()
	echo, err := newEcho(ctx, client)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, echo.sub.Close()) }()
	w, err := newWorld(ctx, append(o.opts, app.WithSinks(redis.NewSink(publisher, signal.Secret(nodeSecret))))...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.stop(ctx)) }()
	bare, ours, err := w.announce(ctx, b.samples(), gateway, echo)
	if err != nil {
		return nil, err
	}
	rows = bare.table("Redis: bare publish to receive, next to "+k.name, nil, "")
	return append(rows, ours.table(k.name+": commit to notification received", bare, "the bare publish")...), nil
}

// announce writes and waits for the notification, alternating with the bare echo.
func (w *world) announce(ctx context.Context, samples int, gateway *listener, echo *echo) (bare, ours delays, err error) {
	if err := w.seed(ctx, "corp", 1, 10); err != nil {
		return nil, nil, err
	}
	if err := gateway.await(ctx, ourSignal); err != nil { // signed with the seed
		return nil, nil, err
	}
	put := w.put("corp", 1, false)
	for n := range samples {
		took, err := echo.once(ctx, n)
		if err != nil {
			return nil, nil, err
		}
		bare.add(took)
		if err := put.do(ctx, 0, n); err != nil {
			return nil, nil, err
		}
		began := time.Now()
		if err := gateway.await(ctx, ourSignal); err != nil {
			return nil, nil, err
		}
		ours.add(time.Since(began))
	}
	return bare, ours, nil
}

// ourSignal reports whether a message is signed with the secret of this run: others may
// use the same server.
func ourSignal(text string) bool {
	var m struct {
		Command   signal.Command `json:"command"`
		Payload   string         `json:"payload"`
		Signature string         `json:"signature"`
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return false
	}
	want, _, err := signal.Secret(nodeSecret)(m.Command, m.Payload)
	return err == nil && m.Signature == want
}

// echo publishes to itself.
type echo struct {
	*listener
	client  *goredis.Client
	channel string
}

func newEcho(ctx context.Context, client *goredis.Client) (*echo, error) {
	channel := fmt.Sprintf("gatehouse-bench-%d", time.Now().UnixNano())
	l, err := listen(ctx, client, channel)
	return &echo{l, client, channel}, err
}

func (e *echo) once(ctx context.Context, n int) (time.Duration, error) {
	text := fmt.Sprintf("%d %s", n, strings.Repeat("x", 200)) // about as long as a notification
	began := time.Now()
	if err := e.client.Publish(ctx, e.channel, text).Err(); err != nil {
		return 0, err
	}
	err := e.await(ctx, func(got string) bool { return got == text })
	return time.Since(began), err
}
