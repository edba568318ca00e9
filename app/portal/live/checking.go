package live

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
)

// Bounds of concurrent password checks: each takes a processor, and memory.
const (
	atOnce = 2
	queued = 64
)

// CodeBusy is the fault code for too many concurrent password checks.
const CodeBusy = "portal_live.busy"

// checker hashes and verifies passwords, a few at a time.
type checker struct {
	passwords secret.Passwords
	dummy     func() string // the hash of a random password, for unknown users
	queue     chan struct{}
	slots     chan struct{}
}

// enter waits until a password may be hashed.
func (c *checker) enter(ctx context.Context) (leave func(), err error) {
	select {
	case c.queue <- struct{}{}:
	default:
		return nil, fault.New(fault.Unavailable, CodeBusy, "too many people log in at once: try again")
	}
	select {
	case c.slots <- struct{}{}:
		return func() { <-c.slots; <-c.queue }, nil
	case <-ctx.Done():
		<-c.queue
		return nil, ctx.Err()
	}
}

func (c *checker) hash(ctx context.Context, password string) (string, error) {
	leave, err := c.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return c.passwords.Hash(password)
}

// least is the minimum duration of an answer: longer than verifying or hashing a
// password.
const least = time.Second

// pause delays an answer so that its timing does not reveal whether an account exists.
func (s *Service) pause(ctx context.Context, began time.Time) {
	if s.Delay < 0 {
		return
	}
	t := time.NewTimer(session.Remaining(time.Since(began), least) + rand.N(s.Delay))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// CodeWait is the fault code for a network with too many requests.
const CodeWait = "portal_live.wait"

// ask counts an action that causes a mail or a record, or returns a fault that says how
// long to wait.
func (s *Service) ask(from operation.Origin) error {
	return s.allow(&s.asking, operation.Network(from.Remote))
}

// allow counts an attempt under a name, and refuses it when there were too many.
func (s *Service) allow(counted *session.Attempts, name string) error {
	s.mu.Lock()
	wait := counted.Take(s.Now(), name)
	s.mu.Unlock()
	if wait == 0 {
		return nil
	}
	f := fault.New(fault.TooMany, CodeWait, "too many requests: try again later")
	f.Wait = int((wait + time.Second - 1) / time.Second)
	return f
}
