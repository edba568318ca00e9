package apps

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// about returns the subject of the sagas of an app: one runs at a time.
func about(app table.ID) intent.Subject {
	return intent.Subject{Kind: application.Kind, ID: app.String()}
}

// Codes of the faults of sagas.
const (
	CodeBusy = "portal_access.busy" // another saga of the app is running
	CodeOpen = "portal_access.open" // the saga continues later
)

// settled converts the error of a saga for clients.
func (s *Service) settled(ctx context.Context, scope tenant.Scope, app table.ID, err error) error {
	kind := fault.KindOf(err)
	if err == nil || kind == fault.Invalid || kind == fault.NotFound {
		return err
	}
	open, failed := s.Intents.Current(context.WithoutCancel(ctx), scope, about(app))
	switch {
	case failed != nil && fault.CodeOf(err) == intent.CodeBusy:
		return issuers.Taken() // a saga of another app has the subject
	case fault.CodeOf(err) == intent.CodeBusy:
		return fault.New(fault.Invalid, CodeBusy, "another operation on the app goes on: see GET /portal-api/operations/%s", open.ID).Because(err)
	case kind != fault.Unavailable:
		return err
	}
	goes := ""
	switch {
	case failed != nil: // the saga has ended
	case open.State == intent.Open:
		goes = "; it goes on later: see GET /portal-api/operations/" + open.ID
	default:
		goes = "; it is undone later: see GET /portal-api/operations/" + open.ID
	}
	return fault.New(fault.Invalid, CodeOpen, "%s%s", message(err), goes).Because(err)
}

// message returns the text of an error for clients.
func message(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return fault.KindOf(err).String()
}
