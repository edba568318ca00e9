package delivery

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	nethttp "net/http"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Bounds of what is sent before the results are stored: after a crash it is sent again.
const (
	maxRun  = 16
	maxTime = time.Second
)

// writeTime is the timeout of storing the results, also at the end.
const writeTime = 3 * time.Second

// step is one delivery before and after an attempt.
type step struct{ before, after delivery.Delivery }

// work sends the deliveries of a lane that are due, in order, and stores the results in
// one unit of work. Results that the store refused are stored before anything else is
// sent: otherwise, with a store that can only be read, receivers would get the same
// deliveries again and again.
func (s *Service) work(run, held context.Context, l *lane) outcome {
	scope, err := tenant.Of(l.org)
	if err != nil {
		return outcome{}
	}
	if !s.written(run, held, scope, l) {
		return outcome{more: true, after: s.Pause}
	}
	waiting, to, err := s.waiting(run, scope, l.key)
	if err != nil {
		s.complain(run, "deliveries cannot be read; trying again", err)
		return outcome{more: true, after: s.Pause}
	}
	steps, next := s.send(run, held, waiting, to)
	l.unwritten = steps
	if !s.written(run, held, scope, l) {
		return outcome{more: true, after: s.Pause}
	}
	return outcome{more: len(waiting) > 0, after: next}
}

// written stores the unwritten attempts of a lane, except those of deliveries that were
// changed or deleted meanwhile, and reports whether the store accepted them. It has a
// moment to finish when this process stops.
func (s *Service) written(run, held context.Context, scope tenant.Scope, l *lane) bool {
	if len(l.unwritten) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(held), writeTime)
	defer cancel()
	_, err := s.store.Update(ctx, scope, func(w store.Writer) error {
		for _, st := range l.unwritten {
			_, err := deliveries.Edit(ctx, w, st.before.ID, nil, func(now delivery.Delivery) (delivery.Delivery, error) {
				if !now.Unchanged(st.before) {
					return now, nil
				}
				return st.after, nil
			})
			if err != nil && fault.KindOf(err) != fault.NotFound {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.complain(run, "what was delivered cannot be written down; trying again", err)
		return false
	}
	l.unwritten = nil
	return true
}

func (s *Service) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		s.log.Warn(what, "error", err)
	}
}

// reach is how to reach a receiver, or the reason why that is not possible any more.
type reach struct {
	deliver.Target
	gone error
}

// waiting returns the next deliveries of a lane, and how to reach its receiver.
func (s *Service) waiting(ctx context.Context, scope tenant.Scope, key string) (list []delivery.Delivery, to reach, err error) {
	err = s.store.View(ctx, scope, func(r store.Reader) (err error) {
		to = reach{}
		list, err = deliveries.Values(ctx, r, store.Query{Index: byPlace, Prefix: key + "\x00", Sorted: true, Limit: maxRun})
		if err != nil || len(list) == 0 {
			return err
		}
		i := slices.IndexFunc(s.audiences, func(a deliver.Audience) bool { return a.Name() == list[0].Audience })
		if i < 0 {
			to.gone = fmt.Errorf("nothing here knows receivers of the sort %q", list[0].Audience)
			return nil
		}
		if to.Target, err = s.audiences[i].Target(ctx, r, scope.Org(), list[0].Lane); fault.KindOf(err) == fault.NotFound {
			to.gone, err = errors.New("nothing is to be sent to this receiver any more"), nil
		}
		return err
	})
	return list, to, err
}

// send tries deliveries in order until one is not due or must be retried later, and
// returns the time after which the lane is due again.
func (s *Service) send(run, held context.Context, list []delivery.Delivery, to reach) (steps []step, after time.Duration) {
	began := time.Now()
	for _, d := range list {
		now := s.now()
		wait := d.Waits(now, s.Pause)
		switch {
		case run.Err() != nil || time.Since(began) > maxTime:
			return steps, 0
		case to.gone != nil:
			steps = append(steps, step{d, d.Rests(now, to.gone.Error())})
			continue
		case wait > 0:
			return steps, wait
		}
		status, why := s.attempt(held, d, to.Target)
		if held.Err() != nil && why != "" { // cut short: the next process tries again
			return steps, 0
		}
		now = s.now()
		if why == "" {
			steps = append(steps, step{d, d.Succeeded(now, status)})
			continue
		}
		// A random pause, so that receivers that were unavailable together are not
		// called again at the same time.
		after := d.Refused(now, status, why, delivery.Pause(s.Pause, d.Attempts+1, rand.Float64()))
		steps = append(steps, step{d, after})
		if after.State == delivery.Pending {
			return steps, after.Next.Sub(now)
		}
		s.log.Warn("a delivery rests: its receiver took none of the attempts", "id", d.ID, "org_id", string(d.OrgID), "event", d.Event, "status", status, "error", why)
	}
	return steps, 0
}

// attempt sends one delivery once. why is the reason if it failed.
func (s *Service) attempt(ctx context.Context, d delivery.Delivery, to deliver.Target) (status int, why string) {
	timeout := to.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, min(timeout, s.Timeout))
	defer cancel()
	if to.Hand != nil {
		if err := to.Hand(ctx, d.ID, []byte(d.Body)); err != nil {
			return 0, err.Error()
		}
		return 0, ""
	}
	req := fetch.Request{Method: to.Method, URL: to.URL, Header: map[string]string{}, Body: []byte(d.Body), StatusOnly: true}
	if req.Method == "" {
		req.Method = nethttp.MethodPost
	}
	if req.Method == nethttp.MethodGet {
		req.Body = nil
	} else {
		req.Header["Content-Type"] = "application/json"
	}
	for name, value := range to.Header {
		req.Header[nethttp.CanonicalHeaderKey(name)] = value
	}
	for name, value := range delivery.Headers(d.ID, s.now(), to.Secret, req.Body) {
		req.Header[nethttp.CanonicalHeaderKey(name)] = value
	}
	answer, err := s.Fetcher.Fetch(ctx, req)
	switch {
	case err != nil:
		return 0, err.Error()
	case !delivery.Accepted(answer.Status):
		return answer.Status, fmt.Sprintf("the receiver answered %d", answer.Status)
	}
	return answer.Status, ""
}
