package door

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Journal writes a line for each action of an admin of the portal: the operation, its outcome,
// object, caller and address; never what was sent.
type Journal struct {
	File interface {
		Append(text []byte) (undo func() error, err error)
	}
	// Admin reports whether a user is an admin: all users have logins and sessions, but only admins
	// have tokens.
	Admin func(ctx context.Context, user table.ID) (bool, error)
	Now   system.Clock
	Log   *slog.Logger

	failing atomic.Bool
}

// action is a line. People are given by number: the only other personal data is the address.
type action struct {
	Time       string `json:"time"`
	UserID     string `json:"user_id"`
	OrgID      string `json:"org_id"`
	Action     string `json:"action"`
	Resource   string `json:"resource"`
	ResourceID string `json:"resource_id"`
	Status     int    `json:"status"`
	IP         string `json:"ip"`
	UserAgent  string `json:"user_agent"`
	RequestID  string `json:"request_id"`
}

// maxShown bounds the length of texts in a line that clients choose.
const maxShown = 256

// Hear is an auditor of the guard. An action is carried out even if its line cannot be written:
// that is logged once, until a line can be written again.
func (j *Journal) Hear(ctx context.Context, c *operation.Call, err error) {
	user, known := account.OfPrincipal(c.Principal.ID)
	if c.Spec.Surface != operation.Portal || !known || c.Spec.Intent == access.Read {
		return
	}
	if c.Spec.BySession || c.Spec.Public { // among public calls, logins set the user at their end
		if admin, err := j.Admin(context.WithoutCancel(ctx), user); err == nil && !admin {
			return
		}
	}
	by := guard.Described(guard.Attribution(c), c)
	resource, _, _ := strings.Cut(strings.TrimPrefix(c.Spec.ID, "portal-"), ".")
	subject := "" // the last identifier in the path
	for segment := range strings.SplitSeq(c.Spec.Path, "/") {
		if name, open := operation.Placeholder(segment); open {
			subject = c.Path[name]
		}
	}
	a := action{Time: j.Now().UTC().Format(time.RFC3339), UserID: user.String(), OrgID: "0", Action: c.Spec.Method + " " + c.Spec.Path, Resource: resource, ResourceID: shown(subject),
		Status: cmp.Or(c.Spec.Status, http.StatusOK), IP: by.From, UserAgent: shown(c.Header["User-Agent"]), RequestID: by.Request}
	if err != nil && c.Status != nil {
		a.Status = c.Status(err)
	}
	if err != nil || c.Spec.Method != http.MethodPost || a.ResourceID != "" || c.Answered == nil {
		j.write(ctx, a)
		return
	}
	c.Answered(func(m operation.Transcript) { // the answer contains the number of a created record
		var made struct{ ID json.Number }
		if json.Unmarshal(bytes.Join(m.Body, nil), &made) == nil {
			a.ResourceID = shown(made.ID.String())
		}
		j.write(context.WithoutCancel(ctx), a)
	})
}

func (j *Journal) write(ctx context.Context, a action) {
	line, failed := json.Marshal(a)
	if failed == nil {
		_, failed = j.File.Append(append(line, '\n'))
	}
	if j.failing.Swap(failed != nil) != (failed != nil) {
		if failed == nil {
			j.Log.InfoContext(ctx, "actions of admins of the portal are written down again")
			return
		}
		j.Log.ErrorContext(ctx, "actions of admins of the portal cannot be written to AuditLog.Path; make room there, or correct the rights of the file", "error", failed)
	}
}

func shown(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxShown)], "?") }
