// Package invite models codes for registrations into a team
// (docs/wire/portal-people.md#invite-codes).
package invite

import (
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kind is the name of the resource in storage.
const Kind = "portal-invite-code"

// Code is an invite code: users with it register into a team.
type Code struct {
	table.Base
	Code      string
	Quota     int64 // maximum number of registrations
	Used      int64
	ExpiresAt string // "": never
	Active    bool
	TeamID    table.ID
}

// Admits reports whether the code allows a registration at a time.
func (c Code) Admits(now time.Time) bool {
	end, ok := parse(c.ExpiresAt, now.Location())
	return c.Active && c.Used < c.Quota && ok && (end.IsZero() || now.Before(end))
}

// forms are the accepted time formats.
var forms = []string{"2006-01-02 15:04", time.RFC3339, time.DateOnly}

// parse parses a time; "" gives the zero time.
func parse(text string, in *time.Location) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	for _, form := range forms {
		if t, err := time.ParseInLocation(form, text, in); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// mostUses is the maximum of a quota.
const mostUses = 1_000_000

// Table implements table.Row.
func (Code) Table() *table.Table[Code] { return rows }

var rows = &table.Table[Code]{
	Kind: Kind, Noun: "invite code",
	Base: func(c *Code) *table.Base { return &c.Base },
	Fields: []table.Field[Code]{
		{Name: "Code", At: func(c *Code) any { return &c.Code }, Max: 100, Fixed: true, Valid: func(c Code) bool { return len(c.Code) >= shortest }, Doc: "Code of 8 characters or more. Generated when absent."},
		{Name: "Quota", At: func(c *Code) any { return &c.Quota }, Valid: func(c Code) bool { return c.Quota >= 0 && c.Quota <= mostUses }, Doc: "Number of people who may register with the code. Default: 1."},
		{Name: "ExpiresAt", At: func(c *Code) any { return &c.ExpiresAt }, Max: 40, Valid: func(c Code) bool { _, ok := parse(c.ExpiresAt, time.UTC); return ok }, Doc: "Expiry: 2026-12-31 23:59, a date, or a time with a zone. Empty: never."},
		{Name: "Active", At: func(c *Code) any { return &c.Active }, Doc: "Default: true."},
		{Name: "TeamID", Also: []string{"Team"}, At: func(c *Code) any { return &c.TeamID }, Target: account.TeamKind, Required: true, Doc: "Team of people who register with the code."},
	},
	Unique: []table.Unique[Code]{{Name: "code", Taken: "Code has already been taken", Of: func(c Code) string { return c.Code }}},
}

// shortest is the minimum length of a code in characters, so that it cannot be guessed.
const shortest = 8
