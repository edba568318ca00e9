// Package classicportal models what jobs send to set up a classic developer portal, which this
// service does not have: it is kept, and nothing reads it (docs/wire/classic-portal.md).
package classicportal

import (
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name of the resource in storage and history.
const Kind = "portal_piece"

// Piece is one body that was sent. It never changes.
type Piece struct {
	ID      string    `json:"id"`
	OrgID   tenant.ID `json:"org_id"`
	Part    string    `json:"part"` // the last element of the path: "pages"
	Created time.Time `json:"created_at"`
	Body    *doc.Node `json:"body"`
}

// Part is a part of a portal, and how it is sent.
type Part struct {
	Name, Noun, Method string
	Keep               int // how many pieces an organisation keeps: the latest
}

// keep is enough for the jobs in the field, which send each part a few times.
const keep = 20

// Parts are those that jobs send.
var Parts = []Part{
	{"cname", "domain", "PUT", 1},
	{"configuration", "settings", "POST", keep},
	{"catalogue", "catalogue", "POST", keep},
	{"pages", "page", "POST", keep},
	{"documentation", "documentation", "POST", keep},
	{"developers", "developer", "POST", keep},
	{"menus", "menu", "POST", keep},
	{"css", "style sheet", "POST", keep},
}

// New makes a piece of a body. Members that hold secrets, such as the password of a
// developer, are left out: nothing will ever need them.
func New(id string, org tenant.ID, part string, body *doc.Node, now time.Time) Piece {
	body = body.Clone()
	withoutSecrets(body)
	return Piece{ID: id, OrgID: org, Part: part, Created: now, Body: body}
}

func withoutSecrets(n *doc.Node) {
	for _, name := range n.Names() {
		if redact.Name(name) {
			n.Delete(name)
		} else {
			withoutSecrets(n.Get(name))
		}
	}
	for _, item := range n.Items() {
		withoutSecrets(item)
	}
}

// Age returns a text by which the pieces of an organisation are in order of part and
// then of age.
func (p Piece) Age() string { return Prefix(p.Part) + p.Created.UTC().Format(fixed) }

// fixed is a form of time in which texts are in order.
const fixed = "2006-01-02T15:04:05.000000000"

// Prefix begins the Age of all pieces of a part.
func Prefix(part string) string { return part + "\x00" }
