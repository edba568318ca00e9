package redis

import (
	"context"
	"errors"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/ports/deliver"
)

// Publisher publishes messages that are not meant for gateways.
type Publisher struct{ client *Client }

var _ deliver.Publisher = Publisher{}

// NewPublisher returns a Publisher.
func NewPublisher(c *Client) Publisher { return Publisher{c} }

var errNoListener = errors.New("no client listens to the channel")

// Publish implements deliver.Publisher. In a cluster it assumes that there are
// subscribers: a node counts only its own.
func (p Publisher) Publish(ctx context.Context, channel string, message []byte) error {
	return p.client.wrap("publish", p.client.within(ctx, func(ctx context.Context) error {
		reply := p.client.rdb.Publish(ctx, channel, message)
		if err := reply.Err(); err != nil {
			return err
		}
		if !p.client.heard([]goredis.Cmder{reply}) {
			return errNoListener
		}
		return nil
	}))
}
