package intents

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// View is an intent as the API shows it.
type View struct {
	ID        string          `json:"id"`
	OrgID     tenant.ID       `json:"org_id"`
	Action    string          `json:"action" doc:"The change, usually the ID of the operation that requested it."`
	Subject   intent.Subject  `json:"subject" doc:"The record that is changed. A key is identified by its hash."`
	State     intent.State    `json:"state" doc:"open, undoing, failed or undo_failed. When closed: done, undone or abandoned."`
	Actor     string          `json:"actor" doc:"ID of the user who requested the change, or admin."`
	Operation string          `json:"operation"`
	Request   string          `json:"request_id"`
	Attempts  int             `json:"attempts" doc:"Number of failed attempts."`
	Created   time.Time       `json:"created_at"`
	Next      time.Time       `json:"next_attempt_at,omitzero" doc:"Earliest time of the next attempt."`
	Busy      time.Time       `json:"busy_until,omitzero" doc:"An attempt is running and ends before this time."`
	Ended     time.Time       `json:"ended_at,omitzero" doc:"When the change was closed, or when attempts stopped."`
	Error     string          `json:"error" doc:"Why the last attempt failed."`
	Told      json.RawMessage `json:"told,omitempty" doc:"Result of the change, once it is done."`
}

func (s *Service) shown(i intent.Intent) View {
	v := View{ID: i.ID, OrgID: i.OrgID, Action: i.Action, Subject: i.Subject, State: i.State, Actor: i.By.Actor, Operation: i.By.Operation, Request: i.By.Request,
		Attempts: i.Attempts, Created: i.Created, Next: i.Next, Ended: i.Ended, Error: i.Error, Told: i.Told}
	if i.Busy(s.now()) {
		v.Busy = i.Until
	}
	return v
}

var exampleView = View{ID: "5f1a0c5d8e3b2a1f00000009", OrgID: "5f1a0c5d8e3b2a1f00000001", Action: "keys.update", Subject: intent.Subject{Kind: "key", ID: "b0e3a2f1"},
	State: intent.Open, Actor: "5f1a0c5d8e3b2a1f00000002", Operation: "keys.update", Request: "0f8fad5b-d9cb-469f-a165-70867728950e", Attempts: 3,
	Created: time.Unix(1767323045, 0).UTC(), Next: time.Unix(1767323120, 0).UTC(), Error: "no gateway answers as it should"}

const missing = intent.Kind + ".not_found"

// Operations lists the operations of admins on intents.
func (s *Service) Operations() []operation.Operation {
	dry := operation.Rehearsable(s.tools.References.Onlooker)
	return operation.Group{
		Surface: operation.Management, Name: "intents", Path: "/api/gateway/intents", Tag: "Gateways", Permission: access.IsAdmin, OneOrganisation: true,
		Style: operation.Style{Word: "OK", ListKey: "intents", Faults: map[string]operation.Answer{
			missing: {Text: "Could not retrieve intent"},
		}},
	}.Rows(
		operation.GET("list", "", "List changes of gateways that are open or have failed", s.List, operation.Lists(operation.Item{Kind: intent.Kind, ID: "id", Name: "action"}),
			operation.Notes("Newest first. Open changes continue by themselves as soon as gateways respond. A failed change waits until an admin retries or abandons it."),
			operation.Example(nil, map[string]any{"intents": []View{exampleView}, "pages": 1})),
		operation.GET("get", "/{intentID}", "Get a change at gateways", s.Get, operation.Faulting(missing),
			operation.Notes("The latest 64 closed changes of an organisation can be fetched as well."), operation.Example(nil, exampleView)),
		operation.POST("retry", "/{intentID}/retry", "Retry a change at gateways", s.Retry, dry,
			operation.Faulting(missing, intent.CodeClosed, intent.CodeBusy),
			operation.Notes("The next attempt starts within two seconds or so. Attempts are counted anew."),
			operation.Example(nil, map[string]any{"Status": "OK", "Message": "Intent is tried again", "Meta": nil})),
		operation.DELETE("abandon", "/{intentID}", "Abandon a change at gateways", s.Abandon, dry,
			operation.Faulting(missing, intent.CodeClosed, intent.CodeBusy),
			operation.Notes("No further attempt is made. Steps that were carried out are not undone, so check the subject of the change."),
			operation.Example(nil, map[string]any{"Status": "OK", "Message": "Intent is given up", "Meta": nil})),
	)
}

// ListIn is the input of List.
type ListIn struct {
	Scope tenant.Scope
	operation.Paging
}

// List returns the intents that are not closed, the newest first.
func (s *Service) List(ctx context.Context, in ListIn) (out operation.Page[View], err error) {
	err = s.tools.Store.View(ctx, in.Scope, func(r store.Reader) error {
		page, err := operation.List(ctx, kind, r, in.Paging, s.tools.PageSize, operation.Order{Index: byShown, Desc: true})
		out = operation.Page[View]{Items: []View{}, Pages: page.Pages}
		for _, i := range page.Items {
			out.Items = append(out.Items, s.shown(i))
		}
		return err
	})
	return out, err
}

// GetIn is the input of Get.
type GetIn struct {
	Scope tenant.Scope
	ID    string `path:"intentID" doc:"Identifier of the intent."`
}

// Get returns one intent.
func (s *Service) Get(ctx context.Context, in GetIn) (out operation.Entity[View], err error) {
	err = s.tools.Store.View(ctx, in.Scope, func(r store.Reader) error {
		v, err := kind.Get(ctx, r, in.ID)
		out = operation.Entity[View]{Value: s.shown(v.Value), Tag: operation.Tag(v.Serial)}
		return err
	})
	return out, err
}

// TouchIn is the input of Retry and Abandon.
type TouchIn struct {
	Scope tenant.Scope
	ID    string `path:"intentID" doc:"Identifier of the intent."`
	Match operation.Match
}

// Retry makes an intent due at once, with as many attempts as a new one.
func (s *Service) Retry(ctx context.Context, in TouchIn) (operation.Receipt, error) {
	return s.touch(ctx, in, intent.Retry, "Intent is tried again")
}

// Abandon gives up an intent.
func (s *Service) Abandon(ctx context.Context, in TouchIn) (operation.Receipt, error) {
	return s.touch(ctx, in, intent.GiveUp, "Intent is given up")
}

func (s *Service) touch(ctx context.Context, in TouchIn, e intent.Event, message string) (operation.Receipt, error) {
	at, err := store.Write(ctx, s.tools.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		v, err := kind.Revise(ctx, w, in.ID, in.Match.Check, func(i intent.Intent) (intent.Intent, error) {
			if err := s.free(i).Free(s.now()); err != nil {
				return i, err
			}
			return i.On(e, s.now(), i.Error)
		})
		return v.Serial, err
	})
	return operation.Receipt{Message: message, Tag: operation.Tag(at)}, err
}

// Current returns the intent about a subject that is open, is being undone, or rests,
// or a NotFound fault.
func (s *Service) Current(ctx context.Context, scope tenant.Scope, about intent.Subject) (v View, err error) {
	value := subject(about)
	err = s.tools.Store.View(ctx, scope, func(r store.Reader) error {
		for _, index := range []string{bySubject, byResting} {
			for in, err := range kind.Find(ctx, r, store.Query{Index: index, Value: value, Limit: 1}) {
				if err == nil {
					v = s.shown(in.Value)
				}
				return err
			}
		}
		return kind.Absent()
	})
	return v, err
}
