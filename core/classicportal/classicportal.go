// Package classicportal models the requests of jobs that set up a classic developer portal.
// This service does not have such a portal: the data is only stored
// (docs/wire/classic-portal.md).
package classicportal

import (
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name of the resource in storage and history.
const Kind = "portal_piece"

// Piece is one request body. It never changes.
type Piece struct {
	ID      string    `json:"id"`
	OrgID   tenant.ID `json:"org_id"`
	Part    string    `json:"part"` // the last element of the path: "pages"
	Created time.Time `json:"created_at"`
	Body    *doc.Node `json:"body"`
}

// Part is a part of a portal, with the method by which jobs send it.
type Part struct {
	Name, Noun, Method string
	Keep               int // how many pieces, the latest ones, are stored for an organisation
}

// keep is enough for existing jobs, which send each part a few times.
const keep = 20

// Parts are the parts that jobs send.
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

// New makes a piece from a body. Members that hold secrets, such as the password of a
// developer, are left out, because nothing needs them.
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

// Age returns a text that sorts the pieces of an organisation by part and then by age.
func (p Piece) Age() string { return Prefix(p.Part) + p.Created.UTC().Format(fixed) }

// fixed is a time format that sorts as text.
const fixed = "2006-01-02T15:04:05.000000000"

// Prefix returns the prefix of the Age of all pieces of a part.
func Prefix(part string) string { return part + "\x00" }
