package relay

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Bounds of the announcements in memory.
const (
	lookBack  = 500  // commits at the end of the log that the first read, or one after a long pause, covers
	keepEach  = 50   // announcements of one organisation
	keepAlive = 1000 // organisations; the one whose last announcement is the oldest is dropped first
)

// Recent returns what was lately announced to gateways about one organisation. It
// derives the announcements from the change log, as the relay does, and only when a
// caller asks. Each commit is read once.
type Recent struct {
	log        history
	signals    signal.Table
	announcing bool

	mu   sync.Mutex
	at   store.Revision
	orgs map[tenant.ID][]Announced // oldest first
}

// history is the change log with its oldest revision.
type history interface {
	store.ChangeLog
	Oldest(ctx context.Context) (store.Revision, error)
}

// NewRecent returns a Recent over a store. Its lists are empty if the store has no
// change log. announcing says whether there are any sinks.
func NewRecent(st store.Store, signals signal.Table, announcing bool) *Recent {
	log, _ := st.(history)
	return &Recent{log: log, signals: signals, announcing: announcing, orgs: map[tenant.ID][]Announced{}}
}

// Announced is one announcement. It has no revision, which would tell one organisation
// how much others write.
type Announced struct {
	Date      time.Time      `json:"date" doc:"Time of the change. Gateways get the announcement a moment later."`
	Command   signal.Command `json:"command"`
	Subject   string         `json:"subject" doc:"Identifier of the API, policy or provider. Empty for announcements about keys."`
	Kind      string         `json:"kind" doc:"Kind of the subject, as in references."`
	Reloads   bool           `json:"reloads" doc:"true: gateways reload policies, APIs and identity providers."`
	User      string         `json:"user" doc:"E-mail address of the user, if a user made the change."`
	Operation string         `json:"operation" doc:"ID of the operation."`
	Request   string         `json:"req_id" doc:"ID of the request."`
}

// AnnouncedList is the response of the list.
type AnnouncedList struct {
	Announcing    bool        `json:"announcing" doc:"true: changes are announced to gateways (notify_on_change is on, and Redis is configured)."`
	Announcements []Announced `json:"announcements"`
}

// Operations lists the only read. Only admins may call it, because announcements
// concern all records of the organisation.
func (r *Recent) Operations() []operation.Operation {
	return operation.Group{
		Surface: operation.Management, Name: "system.announcements", Path: "/api/system/announcements", Tag: "System", Permission: access.IsAdmin, Style: operation.Style{Word: "OK"},
	}.Rows(operation.GET("list", "", "List announcements to gateways", r.List, operation.Lists(operation.Item{Name: "command"}),
		operation.Notes("The list has the last 50 announcements about records of the organisation, newest first, as far as the latest commits of the change log show them. Several reloads at the same time reach gateways as one."),
		operation.Example(nil, AnnouncedList{Announcing: true, Announcements: []Announced{{
			Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Command: signal.ApiUpdated, Subject: "orders", Kind: "api", Reloads: true,
			User: "ada@example.com", Operation: "apis.oas.replace", Request: "b52f491a-2946-408b-9330-2736db85705b",
		}}})))
}

type recentIn struct{ Scope tenant.Scope }

// List returns the announcements of the caller's organisation, the newest first.
func (r *Recent) List(ctx context.Context, in recentIn) (AnnouncedList, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.catchUp(ctx); err != nil {
		return AnnouncedList{}, err
	}
	out := append([]Announced{}, r.orgs[in.Scope.Org()]...)
	slices.Reverse(out)
	return AnnouncedList{Announcing: r.announcing, Announcements: out}, nil
}

// catchUp reads the commits since the last call, but never more than lookBack.
func (r *Recent) catchUp(ctx context.Context) error {
	if r.log == nil {
		return nil
	}
	head, err := r.log.Head(ctx)
	if err != nil || head == r.at {
		return err
	}
	if head < r.at { // the store was restored
		r.at = 0
		clear(r.orgs)
	}
	oldest, err := r.log.Oldest(ctx)
	if err != nil {
		return err
	}
	r.at = max(r.at, before(head, lookBack), before(oldest, 1))
	for c, err := range r.log.Follow(ctx, r.at) {
		if errors.Is(err, store.ErrExpired) { // pruned a moment ago: the next call continues after the gap
			return nil
		}
		if err != nil {
			return err
		}
		r.take(c)
		if r.at = c.Rev; r.at >= head {
			break
		}
	}
	return ctx.Err()
}

// before returns the revision that is steps before rev, at least 0.
func before(rev, steps store.Revision) store.Revision { return rev - min(rev, steps) }

// take records the announcements of a commit, separately for each organisation.
func (r *Recent) take(c store.Commit) {
	byOrg := map[tenant.ID][]signal.Change{}
	for _, ch := range c.Changes {
		byOrg[ch.Org] = append(byOrg[ch.Org], change(ch))
	}
	for org, changes := range byOrg {
		for _, s := range r.signals.Of(changes) {
			if _, known := r.orgs[org]; !known && len(r.orgs) >= keepAlive {
				// The organisation whose last announcement is the oldest makes room.
				var quiet tenant.ID
				var since time.Time
				for other, its := range r.orgs {
					if last := its[len(its)-1].Date; since.IsZero() || last.Before(since) {
						quiet, since = other, last
					}
				}
				delete(r.orgs, quiet)
			}
			all := append(r.orgs[org], Announced{
				Date: c.At, Command: s.Command, Subject: s.Subject(), Kind: r.signals.About(s.Command), Reloads: s.Reloads(),
				User: c.By.User, Operation: c.By.Operation, Request: c.By.Request,
			})
			r.orgs[org] = all[max(0, len(all)-keepEach):]
		}
	}
}
