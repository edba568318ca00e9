package keys

import (
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Examples for the API description.
var (
	exampleEffective = Effective{ID: "1de461e9ee0777bf", Hash: "1de461e9ee0777bf", Accepted: true, Problems: []key.Problem{},
		Policies: []CarriedPolicy{{ID: "gold", Name: "Gold", State: "active", Partitions: []string{}}}, Tags: []string{"internal"}, Meta: json.RawMessage("{}"),
		Limit: json.RawMessage(`{"rate":100,"per":1,"quota_max":-1}`), SetBy: map[string]string{"rate_limit": "gold", "quota": "gold"},
		APIs: []EffectiveAPI{{ID: "orders", Exists: true, Rights: json.RawMessage(`{"api_id":"orders","api_name":"Orders","versions":["Default"]}`),
			Limit: json.RawMessage(`{"rate":100,"per":1,"quota_max":-1}`), Counted: "key", SetBy: map[string][]string{"acl": {"gold"}, "rate_limit": {"gold"}, "quota": {"gold"}}}}}
	exampleName     = KeyName{Hash: "1de461e9ee0777bf", Alias: "billing"}
	exampleCarriers = Carriers{Count: 1, Keys: []KeyName{exampleName}, Pages: 1, looked: looked{At: 7}}
	exampleDoctor   = Diagnosis{Keys: []Refused{{exampleName, []string{"gold"}, []key.Problem{{Code: key.ProblemDraft, Policy: "gold", Text: `the policy "gold" is a draft`, Fix: "set the state of the policy to active"}}}}, looked: looked{At: 7}}
)

// insight lists further reads about keys.
func (s *Service) insight() []operation.Operation {
	const trouble = "Failed to unmarshal keys data from Tyk API."
	effective := operation.Group{Surface: operation.Management, Name: "keys", Path: "/api/keys", Tag: "Keys", Permission: access.Keys, OneOrganisation: true, Style: operation.Style{Word: "OK"}}.Rows(
		operation.GET("effective", "/{keyId}/effective", "Get the effective rights of a key", s.Effective, unseen,
			operation.Faulting(codeMissing, codeForeign, codeByUser, policy.CodeNotOwned, codeGateway, key.CodeTooMany),
			operation.Notes("The policies of the key are applied as gateways apply them."),
			operation.Answers(answers(noKey, "Failed to unmarshal key data from Tyk API.")), operation.Example(nil, exampleEffective)))
	carriers := operation.Group{
		Surface: operation.Management, Name: "policies", Path: "/api/portal/policies", Tag: "Policies", Permission: access.Policies, OneOrganisation: true,
		Style: operation.Style{Word: "OK", Faults: policies.FindAnswers},
	}.Rows(
		operation.GET("keys", "/{id}/keys", "Count and list the keys that have a policy", s.Carriers, operation.Needs(access.Keys, access.Read),
			also(policies.FindFaults, codeMissing, codeGateway, policy.CodeNotOwned),
			operation.Notes("One request examines up to 1000 keys. If there are more, send next of the response as after."),
			operation.Answers(answers(noKeys, trouble)), operation.Example(nil, exampleCarriers)))
	doctor := operation.Group{Surface: operation.Management, Name: "doctor", Path: "/api/doctor", Tag: "Keys", Permission: access.Keys, OneOrganisation: true, Style: operation.Style{Word: "OK"}}.Rows(
		operation.GET("keys", "/keys", "List keys that gateways refuse because of their policies", s.Diagnose, operation.Faulting(codeMissing, codeGateway),
			operation.Notes("Each key comes with the problem and a remedy. One request examines up to 1000 keys. If there are more, send next of the response as after."),
			operation.Answers(answers(noKeys, trouble)), operation.Example(nil, exampleDoctor)))
	return append(append(effective, carriers...), doctor...)
}
