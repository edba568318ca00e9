package webhooks

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/portal"
	core "github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/webhook"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodePing is the fault code for a receiver that fails a test call.
const CodePing = "portal_webhook.ping"

// console has further operations of admins on webhooks: test calls, and the list of
// deliveries.
type console struct {
	*Service
	tools crud.Tools
}

func (c *console) rows() []operation.Row {
	one := Delivery{"5f1a0c5d8e3b2a1f00000009", "UserRegistered", string(core.Failed), core.MaxAttempts, "2026-01-02T03:04:05Z", "", "2026-01-02T03:05:20Z", 503, "the receiver answered 503",
		`{"Event":"UserRegistered","Message":{"ID":7},"Timestamp":"2026-01-02T03:04:05Z"}`}
	return []operation.Row{
		operation.PUT("ping", "/{webhook_id}/ping", "Test the address of a webhook", c.ping, portal.Action(), portal.Unprocessable(), operation.Faulting(CodePing),
			operation.Notes("Sends a HEAD request without the headers of the webhook. Nothing is stored."), operation.Example(nil, portal.Executed("Ping"))),
		operation.GET("deliveries", "/{webhook_id}/deliveries", "List the deliveries of a webhook", c.list, operation.Faulting(table.CodeInvalid),
			operation.Notes("Newest first."), operation.Example(nil, operation.Listing[Delivery]{Items: []Delivery{one}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage})),
		operation.GET("delivery", "/{webhook_id}/deliveries/{delivery_id}", "Fetch a delivery of a webhook", c.get, operation.Example(nil, one)),
		operation.PUT("resend", "/{webhook_id}/deliveries/{delivery_id}/resend", "Resend a delivery to a webhook", c.resend, portal.Action(), portal.Unprocessable(),
			operation.Faulting(core.CodePending, core.CodeEmpty), operation.Notes("The delivery keeps its identifier and goes to the webhook with its current settings."), operation.Example(nil, portal.Executed("Resend"))),
	}
}

// Delivery is an event that was, or will be, sent to a webhook.
type Delivery struct {
	ID            string `json:"ID"`
	Event         string `json:"Event"`
	State         string `json:"State" doc:"pending, failed or done."`
	Attempts      int    `json:"Attempts"`
	CreatedAt     string `json:"CreatedAt"`
	NextAttemptAt string `json:"NextAttemptAt"`
	EndedAt       string `json:"EndedAt"`
	Status        int    `json:"Status" doc:"Status of the last response; 0: there was no response."`
	Error         string `json:"Error" doc:"Why the last attempt failed."`
	Body          string `json:"Body"`
}

func shown(d core.Delivery) Delivery {
	return Delivery{d.ID, d.Event, string(d.State), d.Attempts, written(d.Created), written(d.Next), written(d.Ended), d.Status, d.Error, d.Body}
}

// written formats a time of the log, with seconds; "": there is none.
func written(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// named is the webhook in a path.
type named struct {
	Scope   tenant.Scope
	Webhook string `path:"webhook_id" doc:"Number of the webhook."`
}

// sent is the delivery in a path.
type sent struct {
	named
	Delivery string `path:"delivery_id" doc:"Identifier of the delivery. Receivers get it in the header X-Event-Id."`
}

// listing has the parameters of lists of deliveries.
type listing struct {
	named
	State   string `query:"state" doc:"Only deliveries in this state: pending, failed or done."`
	Number  string `query:"page" page:"-1" doc:"Page number, from 1. -1 or less: all items."`
	PerPage string `query:"per_page" page:"size" doc:"Deliveries on a page. Default: 20."`
	Limit   string `query:"limit" doc:"Maximum number of deliveries in this response. per_page still determines where the page begins."`
}

// lane returns the deliveries of an existing webhook.
func (c *console) lane(ctx context.Context, r store.Reader, in named) (delivery.Lane, webhook.Webhook, error) {
	w, err := portal.Find(ctx, r, Kind, in.Webhook)
	return delivery.Lane{Audience: Audience{c.Service}.Name(), Name: w.ID.String()}, w, err
}

func (c *console) list(ctx context.Context, in listing) (out operation.Listing[Delivery], err error) {
	state := core.State(in.State)
	if state != "" && !slices.Contains(core.States, state) {
		wrong := table.Problems{}
		wrong.Invalid("state")
		return out, wrong.Err()
	}
	err = c.tools.Store.View(ctx, in.Scope, func(r store.Reader) error {
		lane, _, err := c.lane(ctx, r, in.named)
		if err != nil {
			return err
		}
		out, err = portal.Cut(portal.Page{Number: in.Number, PerPage: in.PerPage, Limit: in.Limit}, func(from, to int) ([]Delivery, int, error) {
			page, n, err := lane.Page(ctx, r, state, from, to)
			list := make([]Delivery, 0, len(page))
			for _, d := range page {
				list = append(list, shown(d))
			}
			return list, n, err
		})
		return err
	})
	return out, err
}

func (c *console) get(ctx context.Context, in sent) (out Delivery, err error) {
	err = c.tools.Store.View(ctx, in.Scope, func(r store.Reader) error {
		lane, _, err := c.lane(ctx, r, in.named)
		if err != nil {
			return err
		}
		d, err := lane.Get(ctx, r, in.Delivery)
		out = shown(d)
		return err
	})
	return out, err
}

func (c *console) resend(ctx context.Context, in sent) (portal.Done, error) {
	_, err := c.tools.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		lane, _, err := c.lane(ctx, w, in.named)
		if err != nil {
			return err
		}
		return lane.Resend(ctx, w, in.Delivery, c.tools.Now())
	})
	return portal.Executed("Resend"), err
}

// ping sends a test call to a webhook, outside of any transaction.
func (c *console) ping(ctx context.Context, in named) (out portal.Done, err error) {
	var w webhook.Webhook
	if err := c.tools.Store.View(ctx, in.Scope, func(r store.Reader) (err error) {
		_, w, err = c.lane(ctx, r, in)
		return err
	}); err != nil {
		return out, err
	}
	if c.Deliveries.Fetcher == nil {
		return out, fault.New(fault.Invalid, CodePing, "webhooks are switched off: see Webhooks.Disable")
	}
	ctx, cancel := context.WithTimeout(ctx, min(c.target(w).Timeout, c.Deliveries.Timeout))
	defer cancel()
	answer, err := c.Deliveries.Fetcher.Fetch(ctx, fetch.Request{Method: "HEAD", URL: w.URL, StatusOnly: true})
	switch {
	case err != nil:
		return out, fault.New(fault.Invalid, CodePing, "the receiver cannot be reached: %s", err.Error())
	case !core.Accepted(answer.Status):
		return out, fault.New(fault.Invalid, CodePing, "the receiver answered %d", answer.Status)
	}
	return portal.Executed("Ping"), nil
}
