package past

import (
	"encoding/json"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Operations lists the two reads. To restore an older version, clients send it to the
// operation that writes such records, so that its rules, checks and dry run apply.
func (s *Service) Operations() []operation.Operation {
	return operation.Group{
		Surface: operation.Management, Name: "history", Path: "/api/history/{kind}/{id}", Tag: "History", Permission: access.IsAdmin,
		Style: operation.Style{Word: "OK", ListKey: "changes", Faults: map[string]operation.Answer{
			CodeKind:     {Status: 404, Text: "There is no history of records of this kind."},
			CodeMissing:  {Status: 404, Text: "There was no such record, or its history does not go back that far."},
			CodeRevision: {Status: 400, Text: "The revision of a change is a whole number, 1 or more."},
			CodeOrg:      {Status: 400, Text: "Histories are those of one organisation: ask as one of its users."},
		}},
	}.Rows(
		operation.GET("list", "", "List the changes of a record", s.List, operation.Faulting(CodeKind, CodeMissing, CodeOrg),
			operation.Lists(operation.Item{ID: "revision", Name: "action"}),
			operation.Notes("Newest first, 200 at most, as far back as the change log reaches."),
			operation.Example(nil, map[string]any{"changes": []Change{exampleChange}, "pages": 1})),
		operation.GET("get", "/{revision}", "Get a record as it was after a change", s.Get, operation.Faulting(CodeKind, CodeMissing, CodeRevision, CodeOrg),
			operation.Notes("To restore the record, send the document to the operation that writes such records. First replace the values at the places in `hidden` by the current secrets."),
			operation.Example(nil, Past{Kind: "policy", ID: "5f1a0c5d8e3b2a1f00000003", Revision: 41, Document: json.RawMessage(`{"name":"Gold","rate":100}`), Hidden: []string{}})),
	)
}

var exampleChange = Change{
	Revision: 42, Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Op: "updated", Action: "Replace a policy", Operation: "policies.replace",
	User: "ada@example.com", Actor: "5f1a0c5d8e3b2a1f00000002", Request: "b52f491a-2946-408b-9330-2736db85705b",
	Diff: []audit.Difference{{Subject: "policy 5f1a0c5d8e3b2a1f00000003", Path: "/rate", From: json.RawMessage("100"), To: json.RawMessage("50")}},
}
