package collector

import (
	"context"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
	"github.com/gatehouse-io/gatehouse/ports/retry"
)

// storeTimeout bounds the storing of one piece.
const storeTimeout = time.Minute

// store stores claims, one after the other. What is under way when run ends may go on
// while held lasts.
func (s *Service) store(run, held context.Context) {
	trouble := s.trouble("records of gateways cannot be stored; they wait in Redis")
	defer trouble(nil)
	pause := retry.New(100*time.Millisecond, 10*time.Second)
	for run.Err() == nil {
		var c analytics.Claim
		s.mu.Lock()
		waits := len(s.pending) > 0
		if waits {
			c = s.pending[0]
		}
		s.mu.Unlock()
		if !waits {
			select {
			case <-run.Done():
			case <-s.wake:
			}
			continue
		}
		err := s.drain(run, held, c)
		if run.Err() != nil {
			return
		}
		trouble(err)
		if err != nil {
			_ = pause.Wait(run)
			continue
		}
		pause.Reset()
		s.mu.Lock()
		s.pending, s.done = s.pending[1:], 0
		s.mu.Unlock()
	}
}

// drain stores a claim in every sink, and releases it.
func (s *Service) drain(run, held context.Context, c analytics.Claim) error {
	for i, sink := range s.Sinks {
		if err := s.fill(run, held, c, sink, i == 0); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(held, askTimeout)
	defer cancel()
	return s.Queue.Release(ctx, c)
}

// fill stores in one sink what is not there yet of a claim. A piece is read and counted
// while the one before it is stored.
func (s *Service) fill(run, held context.Context, c analytics.Claim, sink analytics.Sink, counting bool) error {
	from, err := sink.Done(run, c)
	if err != nil {
		return err
	}
	run, cancel := context.WithCancel(run)
	defer cancel()
	pieces := make(chan analytics.Piece)
	read := make(chan error, 1)
	go func() {
		defer close(pieces)
		read <- s.read(run, c, from, pieces)
	}()
	for p := range pieces {
		if err := s.put(held, sink, p); err != nil {
			return err
		}
		if counting {
			s.count(p)
		}
	}
	return <-read
}

func (s *Service) put(ctx context.Context, sink analytics.Sink, p analytics.Piece) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := sink.Store(ctx, p); err != nil {
		return fmt.Errorf("%s: %w", sink.Name(), err)
	}
	return nil
}

// count notes what was stored.
func (s *Service) count(p analytics.Piece) {
	s.mu.Lock()
	s.done = p.To
	s.status.Records += p.To - p.From - int64(len(p.Asides))
	s.status.Asides += int64(len(p.Asides))
	s.status.Dropped += int64(p.Dropped)
	s.mu.Unlock()
	for i, a := range p.Asides {
		if i == 3 {
			s.log.Warn("more entries of the same list could not be read; the table gatehouse_asides has them", "list", p.Claim.Name, "entries", len(p.Asides)-i)
			break
		}
		s.log.Warn("an entry of a list of the gateways could not be read; it is set aside and not counted", "list", p.Claim.Name, "bytes", a.Bytes, "reason", a.Reason)
	}
}

// read reads a claim to its end and sends its pieces.
func (s *Service) read(ctx context.Context, c analytics.Claim, from int64, pieces chan<- analytics.Piece) error {
	for {
		asking, cancel := context.WithTimeout(ctx, askTimeout)
		entries, err := s.Queue.Read(asking, c, from, s.Bounds)
		cancel()
		if err != nil || len(entries) == 0 {
			return err
		}
		p := s.piece(c, from, entries)
		from = p.To
		select {
		case pieces <- p:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// asideBytes is how much of an entry is kept that could not be read.
const asideBytes = 4 << 10

// piece reads entries and counts them.
func (s *Service) piece(c analytics.Claim, from int64, entries []string) analytics.Piece {
	p := analytics.Piece{Claim: c, From: from, To: from + int64(len(entries)), At: s.now()}
	batch := aggregate.New(s.Count)
	for i, text := range entries {
		err := s.entry(&p, batch, text)
		if err == nil {
			continue
		}
		a := analytics.Aside{Position: from + int64(i), Bytes: len(text), Reason: err.Error()}
		if s.Keep == record.All {
			a.Entry = []byte(text[:min(len(text), asideBytes)])
		}
		p.Asides = append(p.Asides, a)
	}
	p.Counts, p.Dropped = batch.Rows(), batch.Dropped
	return p
}

// entry reads one entry. Why it cannot is said without what it holds.
func (s *Service) entry(p *analytics.Piece, batch *aggregate.Batch, text string) error {
	if len(text) > s.Bounds.Largest {
		return fmt.Errorf("it is larger than %d bytes", s.Bounds.Largest)
	}
	if p.Claim.Uptime {
		u, err := s.Decoder.Uptime([]byte(text))
		if err == nil {
			err = record.Plausible(u.TimeStamp, p.At)
		}
		if err == nil {
			u.Clean()
			batch.AddUptime(&u)
		}
		return err
	}
	r, err := s.Decoder.Record([]byte(text), p.Claim.Protobuf)
	if err == nil {
		err = record.Plausible(r.TimeStamp, p.At)
	}
	if err != nil {
		return err
	}
	r.Redact(s.Keep)
	r.Clean()
	batch.Add(&r)
	p.Records = append(p.Records, r)
	return nil
}
