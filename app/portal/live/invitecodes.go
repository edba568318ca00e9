package live

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/invite"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var inviteCodes = portal.KindOf[invite.Code]()

// ShownInviteCode is an invite code.
type ShownInviteCode struct {
	ID        table.ID `json:"ID"`
	CID       string   `json:"CID"`
	Code      string   `json:"Code"`
	Quota     int64    `json:"Quota"`
	Used      int64    `json:"Used"`
	ExpiresAt string   `json:"ExpiresAt"`
	Active    bool     `json:"Active"`
	TeamID    table.ID `json:"TeamID"`
	CreatedAt string   `json:"CreatedAt"`
	UpdatedAt string   `json:"UpdatedAt"`
}

func showInviteCode(_ context.Context, _ store.Reader, c invite.Code) (ShownInviteCode, error) {
	return ShownInviteCode{c.ID, c.CID, c.Code, c.Quota, c.Used, c.ExpiresAt, c.Active, c.TeamID, table.Stamp(c.CreatedAt), table.Stamp(c.UpdatedAt)}, nil
}

// InviteCodeResource defines invite codes as a resource.
func (s *Service) InviteCodeResource() portal.Resource[invite.Code, ShownInviteCode, ShownInviteCode] {
	return portal.Resource[invite.Code, ShownInviteCode, ShownInviteCode]{
		Kind: inviteCodes, Name: "portal-invite-codes", Path: "/invite_codes", Param: "invite_code_id", One: "an invite code", Many: "invite codes",
		List: showInviteCode, Show: showInviteCode,
		Sample: invite.Code{Code: "WELCOME-2026", Quota: 10, ExpiresAt: "2026-12-31 23:59", Active: true, TeamID: 1},
		Begin:  func(c *invite.Code, _ table.ID) { c.Active, c.Quota = true, 1 },
		Hooks: portal.Hooks[invite.Code]{Before: func(_ context.Context, _ store.Writer, c *portal.Change[invite.Code]) error {
			if c.Op != store.Deleted && c.New.Code == "" {
				c.New.Code = rand.Text()
			}
			return nil
		}},
		Rows: func(o portal.Operations[invite.Code, ShownInviteCode, ShownInviteCode]) []operation.Row {
			own := operation.Notes("This operation is an addition of this project.")
			return []operation.Row{o.ListRow(own), o.CreateRow(own), o.GetRow(own), o.UpdateRow(own), o.DeleteRow(own)}
		},
	}
}

// usable returns the invite code with a text, if it is valid now.
func usable(ctx context.Context, r store.Reader, text string, now time.Time) (invite.Code, error) {
	v, err := inviteCodes.ByKey(ctx, r, "code", store.Indexed(text))
	if fault.KindOf(err) == fault.NotFound || err == nil && !v.Value.Admits(now) {
		return v.Value, table.Problems{"InviteCode is invalid"}.Err()
	}
	return v.Value, err
}

// place puts a new user into the team of the invite code in the body, and uses up one
// admission of the code.
func (s *Service) place(ctx context.Context, w store.Writer, body table.Body[account.Newcomer], at crud.Stamp, u *account.User) error {
	text, _ := table.Text(body.Get("InviteCode"))
	if text == "" {
		return nil
	}
	c, err := usable(ctx, w, text, at.Now())
	if err != nil {
		return err
	}
	team, err := portal.Glance[organisation.Team](ctx, w, account.TeamKind, c.TeamID)
	if err == nil && team.ID == 0 {
		err = table.Problems{"InviteCode is invalid"}.Err()
	}
	if err != nil {
		return err
	}
	u.OrganisationID, u.Teams = team.OrganisationID, []table.ID{team.ID}
	_, err = portal.Edit(ctx, w, inviteCodes, c.ID, at, func(c invite.Code) (invite.Code, error) {
		c.Used++
		return c, nil
	})
	return err
}
