package contract_test

import (
	"fmt"
	"testing"
)

// keyPlans are the plans for keys of gateways.
var keyPlans = map[string]plan{
	"keys.create":       {path: some(policyKind), bodies: fresh(keySession, sessionOfPolicy), query: map[string][]string{"basic_auth": {"false"}}},
	"keys.detailed":     {path: none(aKey), query: map[string][]string{"p": {"1", "0", "-1", "999"}, "q": {"", "key"}, "policy_id": {"", "none"}}},
	"keys.preview":      {bodies: fresh(keySession)},
	"keys.get":          {path: aKey, query: naming},
	"keys.create-named": {path: aKey, bodies: fresh(keySession)},
	"keys.replace":      {path: aKey, query: naming, bodies: fresh(keySession)},
	"keys.delete":       {path: aKey},
	"keys.effective":    {path: aKey, query: map[string][]string{"auto_guess": {"true", "false"}, "username": {"false"}}},
	"doctor.keys":       {path: none(aKey), query: map[string][]string{"after": {"", "zzz"}}},
	"policies.keys":     {path: one("id", policyKind), query: map[string][]string{"p": {"1", "0", "-1", "999"}, "after": {"", "zzz"}}},

	"api-keys.all":          {path: none(aKey), query: map[string][]string{"p": {"1", "0", "-1", "999"}}},
	"api-keys.create-user":  {path: aName, bodies: fresh(basicUser)},
	"api-keys.get-user":     {path: aUser},
	"api-keys.replace-user": {path: aUser, bodies: fresh(basicUser), query: map[string][]string{"suppress_reset": {"1"}}},
	"api-keys.delete-user":  {path: aUser},
	"api-keys.list":         {path: keyOfAPI, query: map[string][]string{"p": {"1", "0", "-1", "999"}}},
	"api-keys.search":       {path: searched, query: map[string][]string{"q": {"eyJ", "nothing like it"}, "p": {"1", "-1"}}},
	"api-keys.get":          {path: keyOfAPI, query: naming},
	"api-keys.replace":      {path: keyOfAPI, query: naming, bodies: fresh(keySession)},
	"api-keys.delete":       {path: keyOfAPI},
}

var naming = map[string][]string{"auto_guess": {"true", "false"}, "username": {"false"}, "suppress_reset": {"1"}}

func keySession(n int, _ string) string {
	return fmt.Sprintf(`{"alias":"Key %d","rate":%d,"per":60,"quota_max":-1,"expires":0,"tags":["edge"],"meta_data":{"n":%d},"hmac_enabled":true,`+
		`"access_rights":{"orders":{"api_id":"orders","api_name":"Orders","versions":["Default"]}}}`, n, n, n)
}

func sessionOfPolicy(n int, _ string) string {
	return fmt.Sprintf(`{"alias":"Key %d","apply_policies":["policy-1"]}`, n)
}

func basicUser(n int, _ string) string {
	return fmt.Sprintf(`{"alias":"User %d","basic_auth_data":{"password":"a password %d"},"access_rights":{"orders":{}}}`, n, n)
}

// aKey creates a key with a chosen identifier, for an existing API.
func aKey(t testing.TB, s *service) map[string]string {
	t.Helper()
	api := s.create(t, classicKind)
	id := fmt.Sprintf("key-%d", s.next())
	s.must(t, request{method: "POST", path: "/api/keys/" + id, as: admin, body: []byte(fmt.Sprintf(`{"alias":"%s","access_rights":{"%s":{}}}`, id, api))})
	return map[string]string{"keyId": id, "apiID": api}
}

func keyOfAPI(t testing.TB, s *service) map[string]string {
	t.Helper()
	made := aKey(t, s)
	return map[string]string{"apiID": made["apiID"], "keyID": made["keyId"]}
}

func searched(t testing.TB, s *service) map[string]string {
	t.Helper()
	return map[string]string{"apiID": aKey(t, s)["apiID"]}
}

// aUser creates a basic-auth user for an existing API.
func aUser(t testing.TB, s *service) map[string]string {
	t.Helper()
	made := aName(t, s)
	api := s.create(t, classicKind)
	body := fmt.Sprintf(`{"basic_auth_data":{"password":"a password"},"access_rights":{"%s":{}}}`, api)
	s.must(t, request{method: "POST", path: "/api/apis/keys/basic/" + made["username"], as: admin, body: []byte(body)})
	return made
}

// aName returns the name of a missing user.
func aName(_ testing.TB, s *service) map[string]string {
	return map[string]string{"username": fmt.Sprintf("user-%d", s.next())}
}
