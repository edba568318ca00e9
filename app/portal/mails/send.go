package mails

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/ports/mail"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

const (
	defaultPoll = 2 * time.Second
	atOnce      = 50 // mails that are read together
	tidyEvery   = time.Hour
	writeTime   = 3 * time.Second
)

// hold sends mails until run ends.
func (s *Service) hold(run, held context.Context, _ *lease.Holding) {
	run = store.Attribute(run, store.Attribution{Actor: Operation, Operation: Operation})
	held = store.Attribute(held, store.Attribution{Actor: Operation, Operation: Operation})
	poll := s.Poll
	if poll <= 0 {
		poll = defaultPoll
	}
	var all sync.WaitGroup
	all.Go(func() {
		s.every(run, poll, "mails cannot be sent; trying again", func() error { return s.send(run, held) })
	})
	all.Go(func() {
		s.every(run, tidyEvery, "old mails cannot be forgotten; trying again later", func() error { return s.tidy(run) })
	})
	if s.Every > 0 && s.Expiring != nil {
		all.Go(func() {
			s.every(run, s.Every, "credentials and certificates that expire cannot be read; trying again later", func() error { return s.remind(run) })
		})
	}
	all.Wait()
}

// every runs fn repeatedly until ctx ends, and logs when it begins to fail.
func (s *Service) every(ctx context.Context, pause time.Duration, what string, fn func() error) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	wrong := false
	for {
		err := fn()
		if err != nil && !wrong && ctx.Err() == nil {
			s.Log.Warn(what, "error", err)
		}
		wrong = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// send sends the due mails, one after the other. The outcome of each mail is stored before the next
// is sent: with a read-only store, the first mail would otherwise be sent again and again.
func (s *Service) send(run, held context.Context) error {
	if err := s.catchUp(held); err != nil {
		return err
	}
	for {
		due, g, err := s.due(run)
		if err != nil || len(due) == 0 || !s.sends(g) {
			return err
		}
		at := mail.Server{Address: net.JoinHostPort(strings.TrimSpace(g.SMTPHost), strconv.FormatInt(g.SMTPPort, 10)), Username: g.SMTPUser, From: strings.TrimSpace(g.EmailFrom)}
		if g.SMTPPassword != "" {
			if at.Password, _, err = s.Keys.Open(g.SMTPPassword); err != nil {
				return err
			}
		}
		sender, err := s.Dial(at)
		if err != nil {
			return err
		}
		for _, m := range due {
			if run.Err() != nil {
				return nil
			}
			after, away := s.attempt(held, sender, g, m)
			if held.Err() != nil && after.State != letter.Done { // interrupted: the next process tries again
				return nil
			}
			s.unwritten = &attempted{m, after}
			if err := s.catchUp(held); err != nil {
				return err
			}
			if away {
				return nil // the other due mails wait for the server as well
			}
		}
	}
}

// due returns the next mails, and the portal's settings.
func (s *Service) due(ctx context.Context) (out []letter.Mail, g setting.Settings, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		out = nil
		if g, err = general.Load(ctx, r); err != nil {
			return fault.AbsentFine(err)
		}
		now := s.Now()
		for m, err := range kind.Find(ctx, r, store.Query{Index: byDue, Sorted: true, Limit: atOnce}) {
			if err != nil {
				return err
			}
			if m.Value.Due(now) {
				out = append(out, m.Value)
			}
		}
		return nil
	})
	return out, g, err
}

// attempt tries to send a mail, and returns its new state; away: no server received it.
func (s *Service) attempt(ctx context.Context, sender mail.Sender, g setting.Settings, m letter.Mail) (after letter.Mail, away bool) {
	var d Data
	text, _, err := s.Keys.Open(m.Data)
	if err == nil {
		err = json.Unmarshal([]byte(text), &d)
	}
	var message mail.Message
	if err == nil {
		// Unauthenticated people choose names, and the addresses of mails that contain the names:
		// each must be one line.
		d.Person.First, d.Person.Last, d.Team = letter.Line(d.Person.First), letter.Line(d.Person.Last), letter.Line(d.Team)
		d.Values, _ = inLines(d.Values).(map[string]any)
		message, err = s.write(ctx, g, m, d)
	}
	if err == nil {
		err = sender.Send(ctx, message)
	}
	if err == nil {
		return m.Sent(s.Now()), false
	}
	away = errors.Is(err, mail.ErrAway)
	after = m.After(s.Now(), err.Error(), away || errors.Is(err, mail.ErrLater))
	if after.State == letter.Failed {
		s.Log.Warn("a mail is not sent: no attempt went well", "id", m.ID, "notice", m.Notice, "error", err)
	}
	return after, away
}

// attempted is a mail before and after an attempt.
type attempted struct{ before, after letter.Mail }

// catchUp stores the outcome of the last mail if that is pending, unless another process has tried
// the mail meanwhile: a halted process does not know that it has lost the lease. The outcome "sent"
// counts as long as the mail is pending.
func (s *Service) catchUp(ctx context.Context) error {
	if s.unwritten == nil {
		return nil
	}
	before, after := s.unwritten.before, s.unwritten.after
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	_, err := s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		_, err := kind.Edit(ctx, w, before.ID, nil, func(now letter.Mail) (letter.Mail, error) {
			if now.State != letter.Pending || now.Tries != before.Tries && after.State != letter.Done {
				return now, nil
			}
			return after, nil
		})
		return fault.AbsentFine(err)
	})
	if err == nil {
		s.unwritten = nil
	}
	return err
}

// tidy deletes mails that ended long ago.
func (s *Service) tidy(ctx context.Context) error {
	now := s.steady()
	for _, state := range []letter.State{letter.Done, letter.Failed} {
		for more := true; more; {
			var old []string
			if err := s.Store.View(ctx, s.Scope, func(r store.Reader) error {
				old = nil
				for m, err := range kind.Find(ctx, r, store.Query{Index: byState, Value: string(state)}) {
					if err != nil {
						return err
					}
					if m.Value.Forgettable(now) && len(old) < atOnce {
						old = append(old, m.Value.ID)
					}
				}
				return nil
			}); err != nil {
				return err
			}
			if more = len(old) == atOnce; len(old) == 0 {
				break
			}
			if _, err := s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
				for _, id := range old {
					if _, err := kind.Delete(ctx, w, id, nil); err != nil {
						return fault.AbsentFine(err)
					}
				}
				return nil
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// remind posts mails about credentials and certificates that expire soon, or have expired: one mail
// for each expiry.
func (s *Service) remind(ctx context.Context) error {
	now := s.steady()
	due := map[string][]letter.Expiry{} // by notice; read outside the writing unit of work
	err := s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		clear(due)
		g, err := general.Load(ctx, r)
		if err != nil || !s.sends(g) {
			return fault.AbsentFine(err)
		}
		warning := time.Duration(g.ExpiryWarningDays) * 24 * time.Hour
		list, err := s.Expiring(ctx, r, now.Add(-letter.AfterExpiry), now.Add(warning))
		for _, e := range list {
			if notice, yes := e.Due(now, warning); yes {
				due[notice] = append(due[notice], e)
			}
		}
		return err
	})
	if err != nil || len(due) == 0 {
		return err
	}
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		for notice, list := range due {
			for _, e := range list {
				if err := s.warn(ctx, w, notice, e); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}
