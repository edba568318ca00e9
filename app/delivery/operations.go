package delivery

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of faults.
const (
	missing   = delivery.Kind + ".not_found"
	codeState = delivery.Kind + ".state"
)

// View is a delivery as the API shows it.
type View struct {
	ID       string         `json:"id"`
	OrgID    tenant.ID      `json:"org_id"`
	Audience string         `json:"audience" doc:"Where the receiver is configured. organisation: in event_options of an organisation."`
	Lane     string         `json:"lane" doc:"The receiver. For a receiver in event_options it is the name of the event."`
	Event    string         `json:"event"`
	State    delivery.State `json:"state" doc:"pending, failed or done."`
	Attempts int            `json:"attempts"`
	Created  time.Time      `json:"created_at" doc:"When the event happened."`
	Next     time.Time      `json:"next_attempt_at,omitzero" doc:"Earliest time of the next attempt of a pending delivery."`
	Ended    time.Time      `json:"ended_at,omitzero" doc:"When the delivery succeeded or finally failed."`
	Status   int            `json:"status" doc:"Status of the last response; 0: there was no response."`
	Error    string         `json:"error" doc:"Why the last attempt failed."`
	Body     string         `json:"body" doc:"Body of the request to the receiver."`
}

func shown(d delivery.Delivery) View {
	return View{ID: d.ID, OrgID: d.OrgID, Audience: d.Audience, Lane: d.Lane, Event: d.Event, State: d.State, Attempts: d.Attempts,
		Created: d.Created, Next: d.Next, Ended: d.Ended, Status: d.Status, Error: d.Error, Body: d.Body}
}

var exampleView = View{ID: "5f1a0c5d8e3b2a1f00000009", OrgID: "5f1a0c5d8e3b2a1f00000001", Audience: "organisation", Lane: "api_event", Event: "api_event",
	State: delivery.Failed, Attempts: delivery.MaxAttempts, Created: time.Unix(1767323045, 0).UTC(), Ended: time.Unix(1767323120, 0).UTC(), Status: 503, Error: "the receiver answered 503",
	Body: `{"event":"api_event","org_id":"5f1a0c5d8e3b2a1f00000001","timestamp":"2026-01-02T03:04:05Z","by":"5f1a0c5d8e3b2a1f00000002","message":{"action":"updated","id":"5f1a0c5d8e3b2a1f00000003","api_id":"orders","name":"Orders"}}`}

// Operations lists the operations of the super-admin on deliveries.
func (s *Service) Operations() []operation.Operation {
	return operation.Group{
		Surface: operation.Admin, Name: "admin.deliveries", Path: "/admin/deliveries", Tag: "Deliveries",
		Style: operation.Style{Word: "OK", ListKey: "deliveries", Faults: map[string]operation.Answer{
			missing: {Text: "Could not retrieve delivery"},
		}},
	}.Rows(
		operation.GET("list", "", "List deliveries", s.List, operation.Lists(operation.Item{Kind: delivery.Kind, ID: "id"}),
			operation.Narrows("state", operation.Equal, "state"), operation.Narrows("org_id", operation.Equal, "org_id"), operation.Narrows("lane", operation.Equal, "lane"), operation.Faulting(codeState),
			operation.Notes("Newest first. Filters combine with AND."),
			operation.Example(nil, map[string]any{"deliveries": []View{exampleView}, "pages": 1})),
		operation.GET("get", "/{deliveryID}", "Get a delivery", s.Get, operation.Faulting(missing), operation.Example(nil, exampleView)),
		operation.POST("resend", "/{deliveryID}/resend", "Send a delivery again", s.Resend,
			operation.Faulting(missing, delivery.CodePending, delivery.CodeEmpty), operation.Rehearsable(s.tools.References.Onlooker),
			operation.Notes("The delivery keeps its identifier and goes to the current address of the receiver. Attempts are counted anew."),
			operation.Example(nil, map[string]any{"Status": "OK", "Message": "Delivery is sent again", "Meta": nil})),
	)
}

// listed is the fields of each delivery that lists need.
type listed struct {
	Org      tenant.ID
	State    delivery.State
	Audience string
	Lane     string
	Place    string
	ID       string
}

var column = store.Column[delivery.Delivery, listed]{Kind: deliveries, Of: func(d delivery.Delivery) listed {
	return listed{d.OrgID, d.State, d.Audience, d.Lane, d.Place, d.ID}
}}

// ListIn is the filters of lists of deliveries.
type ListIn struct {
	operation.Paging
	State string `query:"state" doc:"Only deliveries in this state: pending, failed or done."`
	Org   string `query:"org_id" doc:"Only deliveries of this organisation."`
	Lane  string `query:"lane" doc:"Only deliveries to this receiver."`
}

// List returns deliveries of every organisation, the newest first.
func (s *Service) List(ctx context.Context, in ListIn) (out operation.Page[View], err error) {
	if in.State != "" && !slices.Contains(delivery.States, delivery.State(in.State)) {
		return out, fault.New(fault.Invalid, codeState, "state must be pending, failed or done").At("state")
	}
	err = s.tools.Store.View(ctx, tenant.Everyone("list deliveries"), func(r store.Reader) error {
		found := store.Where(column.All(ctx, r), func(v *listed) bool {
			return (in.State == "" || string(v.State) == in.State) && (in.Org == "" || string(v.Org) == in.Org) && (in.Lane == "" || v.Lane == in.Lane)
		})
		page, err := operation.Select(found, in.Paging, s.tools.PageSize, func(a, b *store.Row[listed]) int {
			return cmp.Or(strings.Compare(b.Value.Place, a.Value.Place), strings.Compare(a.Value.ID, b.Value.ID))
		})
		if err != nil {
			return err
		}
		list, err := column.Resources(page.Items)
		out = operation.Page[View]{Items: []View{}, Pages: page.Pages}
		for _, d := range list {
			out.Items = append(out.Items, shown(d))
		}
		return err
	})
	return out, err
}

// GetIn is the input of Get.
type GetIn struct {
	ID string `path:"deliveryID" doc:"Identifier of the delivery. Receivers get it in the header webhook-id."`
}

// Get returns one delivery.
func (s *Service) Get(ctx context.Context, in GetIn) (out operation.Entity[View], err error) {
	err = s.tools.Store.View(ctx, tenant.Everyone("read a delivery"), func(r store.Reader) error {
		d, err := deliveries.Locate(ctx, r, in.ID)
		out = operation.Entity[View]{Value: shown(d.Value), Tag: operation.Tag(d.Serial)}
		return err
	})
	return out, err
}

// ResendIn is the input of Resend.
type ResendIn struct {
	ID    string `path:"deliveryID" doc:"Identifier of the delivery."`
	Match operation.Match
}

// Resend restarts a delivery that has ended.
func (s *Service) Resend(ctx context.Context, in ResendIn) (operation.Receipt, error) {
	at, err := store.Write(ctx, s.tools.Store, tenant.Everyone("send a delivery again"), func(w store.Writer) (store.Serial, error) {
		d, err := deliveries.Revise(ctx, w, in.ID, in.Match.Check, func(d delivery.Delivery) (delivery.Delivery, error) { return d.Again(s.now()) })
		return d.Serial, err
	})
	return operation.Receipt{Message: "Delivery is sent again", Tag: operation.Tag(at)}, err
}
