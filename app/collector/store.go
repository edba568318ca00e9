package collector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
	"github.com/gatehouse-io/gatehouse/ports/retry"
)

// storeTimeout bounds the storing of one piece.
const storeTimeout = time.Minute

// store stores claims, one after the other. A write in progress when run ends may
// continue until held ends.
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
		var err error
		for i := 0; i < len(s.Sinks) && err == nil; i++ {
			err = s.fill(run, held, c, s.Sinks[i], i == 0)
		}
		if err == nil { // stored in every sink
			ctx, cancel := context.WithTimeout(held, askTimeout)
			err = s.Queue.Release(ctx, c)
			cancel()
		}
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

// maxRefused is how many entries of a claim are set aside in one attempt because the
// database refuses them. If it refuses more, the database is most likely at fault, and
// the entries wait.
const maxRefused = 10

// narrow bounds the size of pieces before a position in a claim: the database refuses
// an entry somewhere before that position.
type narrow struct {
	entries int
	until   int64
}

// fill stores the rest of a claim in one sink. A piece that the database refuses is
// stored in smaller pieces, and a single entry that it refuses is set aside.
func (s *Service) fill(run, held context.Context, c analytics.Claim, sink analytics.Sink, counting bool) error {
	var within narrow
	for left := maxRefused; ; {
		p, err := s.pour(run, held, c, sink, within, counting)
		n := int(p.To - p.From)
		switch {
		case !errors.Is(err, analytics.ErrRefused):
			return err
		case n > 1:
			within = narrow{max(1, n/8), p.To}
			continue
		case left == 0:
			return err
		}
		left--
		why := err
		asking, cancel := context.WithTimeout(run, askTimeout)
		entries, err := s.Queue.Read(asking, c, p.From, analytics.Bounds{Entries: 1, Bytes: s.Bounds.Bytes, Largest: s.Bounds.Largest})
		cancel()
		if err != nil || len(entries) == 0 {
			return err
		}
		p = analytics.Piece{Claim: c, From: p.From, To: p.To, At: s.now(), Asides: []analytics.Aside{s.aside(p.From, entries[0], why)}}
		if err := s.put(held, sink, p); err != nil {
			return err
		}
		if counting {
			s.count(p)
		}
	}
}

// pour stores the rest of a claim, and returns the piece that could not be stored, if
// any. A piece is read and counted while the one before it is stored.
func (s *Service) pour(run, held context.Context, c analytics.Claim, sink analytics.Sink, within narrow, counting bool) (failed analytics.Piece, err error) {
	from, err := sink.Done(run, c)
	if err != nil {
		return failed, err
	}
	run, cancel := context.WithCancel(run)
	defer cancel()
	pieces := make(chan analytics.Piece)
	read := make(chan error, 1)
	go func() {
		defer close(pieces)
		read <- s.read(run, c, from, within, pieces)
	}()
	for p := range pieces {
		if err := s.put(held, sink, p); err != nil {
			return p, err
		}
		if counting {
			s.count(p)
		}
	}
	return failed, <-read
}

func (s *Service) put(ctx context.Context, sink analytics.Sink, p analytics.Piece) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := sink.Store(ctx, p); err != nil {
		return fmt.Errorf("%s: %w", sink.Name(), err)
	}
	return nil
}

// count updates the status after a piece was stored, and logs the entries that were set
// aside.
func (s *Service) count(p analytics.Piece) {
	s.mu.Lock()
	s.done = p.To
	s.status.Records += p.To - p.From - int64(len(p.Asides))
	s.status.Asides += int64(len(p.Asides))
	s.status.Dropped += int64(p.Dropped)
	s.mu.Unlock()
	for i, a := range p.Asides {
		if i == 3 {
			s.log.Warn("more entries of the same list cannot be stored; the table gatehouse_asides has them", "list", p.Claim.Name, "entries", len(p.Asides)-i)
			break
		}
		s.log.Warn("an entry of a list of the gateways cannot be stored; it is set aside and not counted", "list", p.Claim.Name, "bytes", a.Bytes, "reason", a.Reason)
	}
}

// read reads a claim to its end and sends its pieces.
func (s *Service) read(ctx context.Context, c analytics.Claim, from int64, within narrow, pieces chan<- analytics.Piece) error {
	for {
		bounds := s.Bounds
		if from < within.until {
			bounds.Entries = within.entries
		}
		asking, cancel := context.WithTimeout(ctx, askTimeout)
		entries, err := s.Queue.Read(asking, c, from, bounds)
		cancel()
		if err != nil || len(entries) == 0 {
			return err
		}
		p := analytics.Piece{Claim: c, From: from, To: from + int64(len(entries)), At: s.now()}
		batch := aggregate.New(s.Count)
		for i, text := range entries {
			if err := s.entry(&p, batch, text); err != nil {
				p.Asides = append(p.Asides, s.aside(from+int64(i), text, err))
			}
		}
		p.Counts, p.Dropped = batch.Rows(), batch.Dropped
		from = p.To
		select {
		case pieces <- p:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// asideBytes is how many bytes of an entry that cannot be stored are kept.
const asideBytes = 4 << 10

// aside returns what is kept of an entry that cannot be stored. The content is kept
// only where messages are kept completely.
func (s *Service) aside(at int64, entry string, why error) analytics.Aside {
	a := analytics.Aside{Position: at, Bytes: len(entry), Reason: why.Error()}
	if s.Keep == record.All {
		a.Entry = []byte(entry[:min(len(entry), asideBytes)])
	}
	return a
}

// entry decodes one entry into a piece and a batch. The error does not quote the entry.
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
