package audit

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of faults.
const (
	CodeOff     = "audit.off"
	CodeFilter  = "audit.filter"
	CodeTooMany = "audit.too_much"
	CodeID      = "audit.id"
	CodeMissing = "audit.not_found"
)

var exampleRecord = audit.Record{
	ReqID: "b52f491a-2946-408b-9330-2736db85705b", OrgID: "5f1a0c5d8e3b2a1f00000001", Date: "Fri, 02 Jan 2026 03:04:05 UTC", Timestamp: 1767323045,
	IP: "192.0.2.7", User: "ada@example.com", Action: "Replace a policy", Method: "PUT", URL: "/api/portal/policies/5f1a0c5d8e3b2a1f00000003", Status: 200,
	Diff:  []audit.Difference{{Subject: "policy 5f1a0c5d8e3b2a1f00000003", Path: "/rate", From: json.RawMessage("100"), To: json.RawMessage("50")}},
	Actor: "5f1a0c5d8e3b2a1f00000002", Operation: "policies.replace", Verdict: audit.Allowed,
	Subjects: []audit.Subject{{Op: "updated", Kind: "policy", ID: "5f1a0c5d8e3b2a1f00000003"}},
}.Link(1, audit.Genesis)

// Operations lists the two reads. No request changes or deletes a record.
func (s *Service) Operations() []operation.Operation {
	const many, one = "could not retrieve audit records", "could not retrieve audit record"
	return operation.Group{
		Surface: operation.Management, Name: "audit", Path: "/api/audit-logs", Tag: "Audit", Permission: access.AuditLogs,
		Style: operation.Style{Word: "OK", Faults: map[string]operation.Answer{
			CodeOff: {Status: 400, Text: many}, CodeFilter: {Status: 400, Text: many}, CodeTooMany: {Status: 400, Text: many}, operation.CodeParameter: {Status: 400, Text: many},
			CodeID: {Status: 400, Text: one}, CodeMissing: {Status: 404, Text: one},
		}},
	}.Rows(
		operation.GET("list", "", "List or download audit records", s.List, operation.Lists(operation.Item{ID: "_id", Name: "action"}), exactly("user"), exactly("action"), exactly("ip"), exactly("method"), exactly("status"),
			operation.Narrows("url", operation.Part, "url"), operation.Narrows("from_date", operation.From, "timestamp"), operation.Narrows("to_date", operation.To, "timestamp"), operation.Faulting(CodeOff, CodeFilter, CodeTooMany),
			operation.Notes("Newest first. Filters combine with AND. With `download=true` the response is a file, without paging."),
			operation.Answers(map[string]operation.Answer{"internal": {Text: many}}),
			operation.Example(nil, map[string]any{"audit_logs": []audit.Record{exampleRecord}, "pages": 1})),
		operation.GET("get", "/{audit-log-id}", "Get an audit record", s.Get, operation.Faulting(CodeOff, CodeID, CodeMissing),
			operation.Answers(map[string]operation.Answer{CodeOff: {Status: 400, Text: one}, "internal": {Text: "Failed to fetch audit record."}}),
			operation.Example(nil, exampleRecord)),
	)
}

// exactly filters the list by a field with the name of the parameter.
func exactly(name string) operation.Option { return operation.Narrows(name, operation.Equal, name) }

type getIn struct {
	Scope tenant.Scope
	ID    string `path:"audit-log-id" doc:"_id of the record."`
}

// Get returns one record of the caller's organisation.
func (s *Service) Get(ctx context.Context, in getIn) (out audit.Record, err error) {
	if !shape.IsObjectID(in.ID) {
		return out, fault.New(fault.Invalid, CodeID, "%q is not an identifier of a record, which has 24 hexadecimal digits", audit.Bounded(in.ID, 64)).At("audit-log-id")
	}
	missing := fault.New(fault.NotFound, CodeMissing, "there is no audit record '%s'", in.ID)
	seq, err := strconv.ParseUint(in.ID, 16, 64)
	if err != nil { // there are not so many records
		return out, missing
	}
	err = s.reading(ctx, in.Scope, func(r store.Reader) error {
		out = audit.Record{}
		for v, err := range segments.Find(ctx, r, store.Query{After: audit.SegmentID(in.Scope.Org(), seq+1), Desc: true, Limit: 1}) {
			if err != nil {
				return err
			}
			lines, err := v.Value.Lines()
			if err != nil {
				return err
			}
			for l := range lines {
				var rec audit.Record
				if json.Unmarshal(l, &rec) == nil && rec.Seq == seq && rec.OrgID == in.Scope.Org() {
					out = rec
					return nil
				}
			}
		}
		return missing
	})
	return out, err
}

// reading brings the trail up to date and reads it in the scope of one organisation.
func (s *Service) reading(ctx context.Context, scope tenant.Scope, fn func(store.Reader) error) error {
	if s.Signer == nil {
		return fault.New(fault.Invalid, CodeOff, "audit records are not kept in the store")
	}
	if scope.Org() == "" { // a super user names the organisation by other means, or none
		return fault.New(fault.Invalid, CodeOff, "audit records belong to an organisation: send the request as one of its users")
	}
	if err := s.Fold(ctx); err != nil && !errors.Is(err, context.Canceled) {
		s.log.Warn("the audit trail could not be brought up to date; older records are answered", "error", err)
	}
	return s.store.View(ctx, scope, fn)
}
