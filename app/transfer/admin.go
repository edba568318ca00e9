package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/folder"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Operations lists the imports of the super-admin (docs/wire/organisations.md#imports).
func (s *Service) Operations() []operation.Operation {
	style := operation.Style{Word: "OK", Faults: map[string]operation.Answer{
		operation.CodeEmptyBody: {Status: 500, Text: "Failed to read response body, body empty"},
		operation.CodeMalformed: {Status: 403, Text: "Request body malformed"},
	}}
	const notes = " A record with the identifier of a stored one replaces it. Each record is stored in the organisation of its org_id, which may be absent while there is only one organisation. " +
		"For each identifier, Meta is true if the record was stored, otherwise the reason why not. A database ID in a record is kept if no other record has it. " +
		"Records are stored in batches of a hundred, so that other writes are not blocked. After a 503 some batches may be stored; send the same list again."
	definition := map[string]any{
		"api_id": "orders", "org_id": "5f1a0c5d8e3b2a1f00000001", "name": "Orders", "active": true, "use_keyless": true,
		"proxy": map[string]any{"listen_path": "/orders/", "target_url": "http://orders.internal:8080/", "strip_listen_path": true},
	}
	policy := map[string]any{"id": "gold", "org_id": "5f1a0c5d8e3b2a1f00000001", "name": "Gold", "rate": 100, "per": 1, "quota_max": -1, "access_rights": map[string]any{}}
	apis := operation.Group{Surface: operation.Admin, Name: "admin.apis", Path: "/admin/apis", Tag: "APIs", Style: style}.Rows(
		operation.POST("import", "/import", "Import APIs of any class", s.ImportAPIs, operation.Limits(0, deadline), operation.Notes("The body is a list of APIs in the format that lists return."+notes),
			operation.Example(map[string]any{"apis": []any{map[string]any{"api_definition": definition}}}, imported("APIs imported", "orders"))))
	return append(apis, operation.Group{Surface: operation.Admin, Name: "admin.policies", Path: "/admin/policies", Tag: "Policies", Style: style}.Rows(
		operation.POST("import", "/import", "Import policies", s.ImportPolicies, operation.Limits(0, deadline), operation.Notes("The body is a list of policies in the format that lists return."+notes+" A policy without _id and id gets a generated identifier, which is its name in Meta. Up to a hundred policies are announced to gateways one by one; more are announced by a reload for each hundred."),
			operation.Example(map[string]any{"Data": []any{policy}, "Pages": 1}, imported("Policies imported", "gold"))))...)
}

func imported(message, id string) map[string]any {
	return map[string]any{"Status": "OK", "Message": message, "Meta": map[string]any{id: true}}
}

// Definitions is the body of an import of APIs, in the form of lists of APIs.
type Definitions struct {
	APIs  []json.RawMessage `json:"apis"`
	Pages int               `json:"pages,omitempty"`
}

// Data is the body of an import of policies.
type Data struct {
	Data  []json.RawMessage `json:"Data"`
	Pages int               `json:"Pages,omitempty"`
}

type apisIn struct {
	Body Definitions `body:""`
}

type policiesIn struct {
	Body Data `body:""`
}

// ImportAPIs stores the valid APIs, and returns the reasons why others are not stored.
func (s *Service) ImportAPIs(ctx context.Context, in apisIn) (operation.Receipt, error) {
	b := batch{member: "apis", reload: true, of: func(n *doc.Node, at folder.Place) (folder.Bundle, []folder.Problem) { return folder.ReadAPI(at, n) }}
	meta, err := s.batch(ctx, in.Body.APIs, b)
	return operation.Receipt{Message: "APIs imported", Meta: meta}, err
}

// ImportPolicies stores the valid policies, and returns the reasons why others are not
// stored.
func (s *Service) ImportPolicies(ctx context.Context, in policiesIn) (operation.Receipt, error) {
	b := batch{member: "Data", draw: s.identify, of: func(n *doc.Node, at folder.Place) (folder.Bundle, []folder.Problem) { return folder.ReadPolicy(at, n) }}
	meta, err := s.batch(ctx, in.Body.Data, b)
	return operation.Receipt{Message: "Policies imported", Meta: meta}, err
}

// identify gives a policy without an ID a new one, as a creation would, and returns it;
// "" for a policy that has an ID.
func (s *Service) identify(n *doc.Node) string {
	if !n.Is(doc.TypeObject) {
		return ""
	}
	for _, name := range []string{"_id", "id"} {
		if v := n.Get(name); !v.Is(doc.Absent, doc.TypeNull) && !(v.Is(doc.TypeString) && v.Text() == "") {
			return ""
		}
	}
	id := s.Policies.NewID()
	n.Set("_id", doc.NewString(id))
	n.Set("id", doc.NewString(id))
	return id
}

// batch says how the records of a list are read.
type batch struct {
	member string
	reload bool                   // announce all records together, by a reload of everything
	draw   func(*doc.Node) string // gives a record without an ID a new one; nil: records need an ID
	of     func(*doc.Node, folder.Place) (folder.Bundle, []folder.Problem)
}

// entry is one record of a list.
type entry struct {
	item
	id    string // its key in Meta
	drawn string // its key in Meta when it is stored, if it came without an ID
}

// tell sets the result in Meta: true, or the reason why the record is not stored.
func (e entry) tell(meta map[string]any, verdict any) {
	delete(meta, e.id)
	delete(meta, e.drawn)
	if verdict == true {
		e.id = cmp.Or(e.drawn, e.id)
	}
	meta[e.id] = verdict
}

// part is how many records of a list are stored in one unit of work. Each takes the
// writer, which others wait for, about 50 microseconds.
const part = 100

// deadline is enough for thousands of records, each looked up in a remote database.
const deadline = 100 * time.Second

// batch stores each record of a list by itself, in parts. It returns, by ID, true or
// the reason why the record is not stored. After an error some records may be stored:
// the client can send the same list again.
func (s *Service) batch(ctx context.Context, list []json.RawMessage, b batch) (map[string]any, error) {
	if err := caps.Import.Count(b.member, len(list)); err != nil {
		return nil, err
	}
	known, err := s.Organisations(ctx)
	if err != nil {
		return nil, err
	}
	meta := map[string]any{}
	byOrg := map[tenant.ID][]entry{}
	var orgs []tenant.ID
	for i, text := range list {
		if err := ctx.Err(); err != nil { // the client is gone
			return nil, err
		}
		org, e, reason := s.entry(text, b, i, known)
		if _, twice := meta[e.id]; twice {
			e.id, reason = fmt.Sprintf("%s.%d", b.member, i), fmt.Sprintf("%s comes twice in this request; the first one counts", e.id)
		}
		if meta[e.id] = true; reason != "" {
			meta[e.id] = reason
			continue
		}
		if byOrg[org] == nil {
			orgs = append(orgs, org)
		}
		byOrg[org] = append(byOrg[org], e)
	}
	for _, org := range orgs {
		if err := s.each(ctx, org, byOrg[org], b.reload, meta); err != nil {
			return nil, err
		}
	}
	return meta, nil
}

// entry reads and checks one record of a list.
func (s *Service) entry(text json.RawMessage, b batch, i int, known []tenant.ID) (org tenant.ID, e entry, reason string) {
	at := fmt.Sprintf("%s.%d", b.member, i)
	e.id = at
	n, err := doc.ParseNode(text)
	if err != nil {
		return "", e, err.Error()
	}
	if b.draw != nil {
		e.drawn = b.draw(n)
	}
	found, wrong := b.of(n, folder.Place{})
	if e.drawn == "" {
		e.id = idOf(found, at)
	}
	if len(wrong) > 0 {
		return "", e, reasons(wrong)
	}
	if org, reason = owner(n, known); reason != "" {
		return "", e, reason
	}
	items, wrong := s.prepare(org, found, nil)
	if len(wrong) > 0 {
		return "", e, reasons(wrong)
	}
	e.item = items[0]
	return org, e, ""
}

func idOf(b folder.Bundle, otherwise string) string {
	for _, a := range b.APIs {
		if a.ID != "" {
			return a.ID
		}
	}
	for _, p := range b.Policies {
		return p.ID
	}
	return otherwise
}

// reasons joins problems into one text.
func reasons(problems []folder.Problem) string {
	out := ""
	for i, p := range problems {
		if i > 0 {
			out += "; "
		}
		if p.Field != "" {
			out += p.Field + ": "
		}
		out += p.Message
	}
	return out
}

// owner returns the organisation of a record, or the reason why it has none.
func owner(n *doc.Node, known []tenant.ID) (org tenant.ID, reason string) {
	text := n.Get("org_id").Text()
	if text == "" {
		text = n.Get("api_definition", "org_id").Text()
	}
	switch {
	case text == "" && len(known) == 1:
		return known[0], ""
	case text == "":
		return "", "org_id is required"
	}
	for _, id := range known {
		if id == tenant.ID(text) {
			return id, ""
		}
	}
	return "", fmt.Sprintf("there is no organisation %q", text)
}

// each stores the records of one organisation. A refused record does not affect the
// others.
func (s *Service) each(ctx context.Context, org tenant.ID, list []entry, reload bool, meta map[string]any) error {
	scope, err := tenant.Of(org)
	if err != nil {
		return err
	}
	reload = reload || len(list) > signal.Many
	for some := range slices.Chunk(list, part) {
		_, err := s.Store.Update(ctx, scope, func(w store.Writer) error {
			writes := 0
			err := putAll(ctx, w, some, func(e entry, op store.Op, refused *fault.Error) {
				if refused != nil {
					e.tell(meta, refused.Message)
					return
				}
				if e.tell(meta, true); op != "" {
					writes++
				}
			})
			if err != nil || !reload {
				return err // each policy announces itself
			}
			return announce(ctx, w, writes)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
