package redis

import (
	"context"
	"slices"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/ports/analytics"
)

// Claims takes lists of entries from the gateways by renaming them. A claimed list stays in Redis
// until it is released, even if the process dies. Braces put the names that belong together into
// one slot of a cluster (docs/wire/records.md#claims).
type Claims struct{ client *Client }

var _ analytics.Queue = (*Claims)(nil)

// NewClaims returns Claims.
func NewClaims(c *Client) *Claims { return &Claims{c} }

// claimName returns the name of a claim; index returns the name of the set of a list's claims. The
// set changes together with the claims.
func claimName(l analytics.List, unique string) string { return "{" + l.Name + "}.c-" + unique }
func index(l analytics.List) string                    { return "{" + l.Name + "}.claims" }

// take is a script rather than a transaction: a full Redis refuses every command of a transaction,
// and would stay full. It also refuses SADD, but not after a write that takes no memory. While
// Redis is full and a claim of the list waits (which happens as long as the database is away), no
// more is claimed: lists of gateways expire, claims do not, and gateways need the memory. The new
// name gets the remaining time to live of a list that expires.
var take = goredis.NewScript(`
local size = redis.call('LLEN', KEYS[1])
if size == 0 then return 0 end
local said = redis.pcall('SADD', KEYS[3], ARGV[1])
if type(said) == 'table' and said.err then
  if not string.find(said.err, 'OOM', 1, true) then return said end
  if #redis.call('SMEMBERS', KEYS[3]) > 0 then return 0 end
end
if redis.call('RENAMENX', KEYS[1], KEYS[2]) == 0 then return 0 end
redis.call('SADD', KEYS[3], ARGV[1])
redis.call('PERSIST', KEYS[2])
return size`)

// Claim implements analytics.Queue.
func (q *Claims) Claim(ctx context.Context, l analytics.List, unique string) (analytics.Claim, bool, error) {
	c, err := ask(ctx, q.client, "claim "+l.Name, func(ctx context.Context) (c analytics.Claim, err error) {
		name := claimName(l, unique)
		size, err := take.Run(ctx, q.client.rdb, []string{l.Name, name, index(l)}, unique).Int64()
		if err != nil || size == 0 { // the list is empty, there is no room, or a claim with this name exists
			return c, err
		}
		return analytics.Claim{List: l, Claim: name, Entries: size}, nil
	})
	return c, err == nil && c.Claim != "", err
}

// Open implements analytics.Queue.
func (q *Claims) Open(ctx context.Context) ([]analytics.Claim, error) {
	return ask(ctx, q.client, "list claims", func(ctx context.Context) (out []analytics.Claim, err error) {
		for _, l := range analytics.Lists() {
			names, err := q.client.rdb.SMembers(ctx, index(l)).Result()
			if err != nil {
				return nil, err
			}
			slices.Sort(names)
			for _, unique := range names {
				c := analytics.Claim{List: l, Claim: claimName(l, unique)}
				if c.Entries, err = q.client.rdb.LLen(ctx, c.Claim).Result(); err != nil {
					return nil, err
				}
				out = append(out, c)
			}
		}
		return out, nil
	})
}

// gone is the time to live that Redis answers for a key that does not exist.
const gone = -2

// Levels implements analytics.Queue.
func (q *Claims) Levels(ctx context.Context, lists []analytics.List) ([]analytics.Level, error) {
	return ask(ctx, q.client, "look at lists", func(ctx context.Context) ([]analytics.Level, error) {
		sizes, ends := make([]*goredis.IntCmd, len(lists)), make([]*goredis.DurationCmd, len(lists))
		_, err := q.client.rdb.Pipelined(ctx, func(p goredis.Pipeliner) error {
			for i, l := range lists {
				sizes[i], ends[i] = p.LLen(ctx, l.Name), p.PTTL(ctx, l.Name)
			}
			return nil
		})
		out := make([]analytics.Level, len(lists))
		for i := range lists {
			switch left := ends[i].Val(); left {
			case gone:
			case 0: // less than a millisecond is left, which must not become "no expiry"
				out[i] = analytics.Level{Entries: sizes[i].Val(), Expires: 1}
			default:
				out[i] = analytics.Level{Entries: sizes[i].Val(), Expires: max(0, left)}
			}
		}
		return out, err
	})
}

// read limits the size inside Redis: the length of a list says how many entries it has, but not how
// large they are.
var read = goredis.NewScript(`
local out, size, at = {}, 0, tonumber(ARGV[1])
local last, bytes, largest = at + tonumber(ARGV[2]) - 1, tonumber(ARGV[3]), tonumber(ARGV[4])
while at <= last do
  local some = redis.call('LRANGE', KEYS[1], at, math.min(at + 15, last))
  if #some == 0 then return out end
  for _, entry in ipairs(some) do
    if #entry > largest then entry = string.sub(entry, 1, largest + 1) end
    size = size + #entry
    if size > bytes and #out > 0 then return out end
    out[#out + 1] = entry
  end
  at = at + #some
end
return out`)

// Read implements analytics.Queue.
func (q *Claims) Read(ctx context.Context, c analytics.Claim, from int64, b analytics.Bounds) ([]string, error) {
	return ask(ctx, q.client, "read a claim", func(ctx context.Context) ([]string, error) {
		return read.Run(ctx, q.client.rdb, []string{c.Claim}, from, b.Entries, b.Bytes, b.Largest).StringSlice()
	})
}

// drop is a script rather than a transaction, as take is, so that a full Redis executes it.
var drop = goredis.NewScript(`
redis.call('UNLINK', KEYS[1])
return redis.call('SREM', KEYS[2], ARGV[1])`)

// Release implements analytics.Queue.
func (q *Claims) Release(ctx context.Context, c analytics.Claim) error {
	_, err := ask(ctx, q.client, "release a claim", func(ctx context.Context) (int64, error) {
		unique := c.Claim[len(claimName(c.List, "")):]
		return drop.Run(ctx, q.client.rdb, []string{c.Claim, index(c.List)}, unique).Int64()
	})
	return err
}

// shared returns the name of the key that exists while another program is known to read a list.
func shared(l analytics.List) string { return "{" + l.Name + "}.shared" }

// Share implements analytics.Queue.
func (q *Claims) Share(ctx context.Context, l analytics.List, during time.Duration) error {
	_, err := ask(ctx, q.client, "note another reader", func(ctx context.Context) (string, error) {
		return q.client.rdb.Set(ctx, shared(l), "1", during).Result()
	})
	return err
}

// Shared implements analytics.Queue.
func (q *Claims) Shared(ctx context.Context, lists []analytics.List) ([]analytics.List, error) {
	return ask(ctx, q.client, "look for other readers", func(ctx context.Context) (out []analytics.List, err error) {
		there := make([]*goredis.IntCmd, len(lists))
		_, err = q.client.rdb.Pipelined(ctx, func(p goredis.Pipeliner) error {
			for i, l := range lists {
				there[i] = p.Exists(ctx, shared(l))
			}
			return nil
		})
		for i, l := range lists {
			if there[i].Val() > 0 {
				out = append(out, l)
			}
		}
		return out, err
	})
}

// ask returns the result of fn, or an error when ctx ends: the library checks the context only
// between network operations. A result that comes too late is dropped.
func ask[T any](ctx context.Context, c *Client, doing string, fn func(context.Context) (T, error)) (T, error) {
	answer := make(chan T, 1)
	err := c.within(ctx, func(ctx context.Context) error {
		v, err := fn(ctx)
		answer <- v
		return err
	})
	if err != nil {
		return *new(T), c.wrap(doing, err)
	}
	return <-answer, nil
}
