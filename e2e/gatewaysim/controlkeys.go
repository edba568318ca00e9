package gatewaysim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"
)

const notCreated = "Failed to create key, ensure security settings are correct."

// keptAs returns the names under which a requested key may be stored.
func (c *controlCall) keptAs(text, org string) []string {
	cfg := c.v.p.cfg
	if c.query.Get("hashed") != "" {
		return []string{text}
	}
	if a := c.v.apis.byID[c.query.Get("api_id")]; a != nil {
		org = a.OrgID
	}
	if org == "" {
		org = c.query.Get("org_id")
	}
	if org == "" {
		return []string{cfg.kept(text)}
	}
	return []string{cfg.kept(cfg.token(org, text)), cfg.kept(text), cfg.kept(org + text)}
}

// find returns a requested key, and the name under which it is stored.
func (c *controlCall) find(org string) (string, *storedKey) {
	for _, kept := range c.keptAs(c.PathValue("key"), org) {
		if k := c.store.keys[kept]; k != nil {
			return kept, k
		}
	}
	return "", nil
}

func text(session map[string]any, name string) string { s, _ := session[name].(string); return s }

func number(session map[string]any, name string) float64 { n, _ := session[name].(float64); return n }

// policiesOf returns the policies that a session names.
func policiesOf(session map[string]any) (ids []string) {
	list, _ := session["apply_policies"].([]any)
	for _, item := range list {
		if id, ok := item.(string); ok {
			ids = append(ids, id)
		}
	}
	if one := text(session, "apply_policy_id"); len(ids) == 0 && one != "" {
		ids = []string{one}
	}
	return ids
}

// refusal returns why a session cannot be stored, or "". It does not check the names of
// APIs, and of certificates in bindings at creation.
func (c *controlCall) refusal(session map[string]any) (status int, reason string) {
	rights, _ := session["access_rights"].(map[string]any)
	policies := policiesOf(session)
	if len(rights) == 0 && len(policies) == 0 {
		return http.StatusBadRequest, "keys must have at least one Access Rights record set."
	}
	if _, err := newSession(c.v.policies, text(session, "org_id"), policies); err != nil {
		return http.StatusInternalServerError, err.Error()
	}
	bound, _ := session["mtls_static_certificate_bindings"].([]any)
	for _, id := range bound {
		if c.store.certificates[fmt.Sprint(id)] == nil {
			return http.StatusBadRequest, fmt.Sprintf("invalid certificate ID: %v", id)
		}
	}
	return 0, ""
}

// addKey stores a key with a given or a generated name, replacing an existing one.
func addKey(c *controlCall) (int, any) {
	session, ok := decodeSession(c.body)
	if !ok {
		return failed(http.StatusBadRequest, "Request malformed")
	}
	name := c.PathValue("key")
	switch {
	case strings.Contains(name, "/"):
		return failed(http.StatusNotFound, "Key not found")
	case name != "" && len(name) < 3:
		return failed(http.StatusBadRequest, "Token is too short")
	}
	if status, reason := c.refusal(session); status == http.StatusBadRequest && strings.HasPrefix(reason, "invalid") {
		return failed(status, reason)
	} else if status != 0 {
		return failed(http.StatusInternalServerError, notCreated)
	}
	return c.add(session, name)
}

// createKey is the older call: the name comes from a certificate, if there is one, and it
// makes an HMAC secret.
func createKey(c *controlCall) (int, any) {
	session, ok := decodeSession(c.body)
	if !ok {
		return failed(http.StatusInternalServerError, "Unmarshalling failed")
	}
	switch status, reason := c.refusal(session); {
	case status == http.StatusBadRequest && strings.HasPrefix(reason, "invalid"):
		return failed(status, reason)
	case status == http.StatusBadRequest:
		return failed(status, "Failed to create key, "+reason)
	case status != 0:
		return failed(status, fmt.Sprintf("Failed to create key - %s", reason))
	}
	name := text(session, "certificate")
	if token := c.v.p.cfg.token(text(session, "org_id"), name); name != "" && c.store.keys[c.v.p.cfg.kept(token)] != nil {
		return failed(http.StatusInternalServerError, "Failed to create key - Key with given certificate already found:"+token)
	}
	if on, _ := session["hmac_enabled"].(bool); on {
		session["hmac_string"] = random()
	}
	return c.add(session, name)
}

func (c *controlCall) add(session map[string]any, name string) (int, any) {
	cfg, now := c.v.p.cfg, time.Now()
	if expires := int64(number(session, "expires")); expires > 1 && expires < now.Unix() {
		session["expires"] = 0.0
	}
	session["date_created"] = now.Format(time.RFC3339Nano)
	session["last_updated"] = strconv.FormatInt(now.Unix(), 10)
	if name == "" {
		name = random()
	}
	token := cfg.token(text(session, "org_id"), name)
	k := &storedKey{session: session}
	k.takePassword(nil)
	kept := cfg.kept(token)
	c.store.forget(kept)
	c.store.keys[kept] = k
	answer := done{Key: token, Status: "ok", Action: "added", Hash: kept}
	if cfg.PlainKeys {
		answer.Hash = ""
	}
	if k.password != nil {
		answer.Key = ""
	}
	return http.StatusOK, answer
}

// takePassword hashes the password of a session, or keeps the previous one.
func (k *storedKey) takePassword(before []byte) {
	data, _ := k.session["basic_auth_data"].(map[string]any)
	given := text(data, "password")
	if k.password = before; given != "" {
		k.password, _ = bcrypt.GenerateFromPassword([]byte(given), bcrypt.MinCost) // a password that is too long can never match
	}
	if k.password != nil {
		k.session["basic_auth_data"] = map[string]any{"hash_type": "bcrypt"}
	}
}

// replaceKey replaces the session. The organisation is that of the session.
func replaceKey(c *controlCall) (int, any) {
	session, ok := decodeSession(c.body)
	if !ok {
		return failed(http.StatusBadRequest, "Request malformed")
	}
	kept, k := c.find(text(session, "org_id"))
	if k == nil {
		return failed(http.StatusNotFound, "Key is not found")
	}
	if status, reason := c.refusal(session); status != 0 {
		if !strings.HasPrefix(reason, "invalid") {
			status, reason = http.StatusInternalServerError, notCreated
		}
		return failed(status, reason)
	}
	now := time.Now()
	if expires := int64(number(session, "expires")); expires > 1 && expires < now.Unix() {
		session["expires"] = k.session["expires"]
	}
	session["date_created"] = k.session["date_created"]
	session["last_updated"] = strconv.FormatInt(now.Unix(), 10)
	next := &storedKey{session: session}
	next.takePassword(k.password)
	c.store.keys[kept] = next
	if c.query.Get("suppress_reset") != "1" {
		c.store.forget(kept)
	}
	return http.StatusOK, done{Key: c.PathValue("key"), Status: "ok", Action: "modified"}
}

// readKey returns a session with its policies applied and its remaining quota.
func readKey(c *controlCall) (int, any) {
	if c.v.p.cfg.PlainKeys && c.query.Get("hashed") != "" {
		return failed(http.StatusBadRequest, "Key requested by hash but key hashing is not enabled")
	}
	kept, k := c.find("")
	if k == nil {
		return failed(http.StatusNotFound, "Key not found")
	}
	session := c.v.applied(k.session)
	if most := number(session, "quota_max"); most > 0 {
		left := most
		if counted := c.store.counters[counterKey{org: text(session, "org_id"), identity: kept, stored: true}]; counted != nil {
			left -= float64(counted.used)
		}
		session["quota_remaining"] = max(0, left)
	}
	return http.StatusOK, withoutZeros(session)
}

// applied returns a session with the rights and limits of its policies.
func (v view) applied(session map[string]any) map[string]any {
	out := maps.Clone(session)
	policies := policiesOf(session)
	s, err := newSession(v.policies, text(session, "org_id"), policies)
	if err != nil || len(policies) == 0 {
		return out
	}
	if s.Limit.Rate != 0 {
		out["rate"], out["per"] = s.Limit.Rate, s.Limit.Per
	}
	if s.Limit.QuotaMax != 0 {
		out["quota_max"], out["quota_renewal_rate"] = float64(s.Limit.QuotaMax), float64(s.Limit.QuotaRenewal)
	}
	if len(s.Rights) == 0 {
		return out
	}
	rights := map[string]any{}
	for api := range s.Rights {
		l, _ := s.limit(api)
		rights[api] = map[string]any{"api_id": api, "versions": []any{"Default"}, "limit": map[string]any{
			"rate": l.Rate, "per": l.Per, "quota_max": float64(l.QuotaMax), "quota_renewal_rate": float64(l.QuotaRenewal),
		}}
	}
	out["access_rights"] = rights
	return out
}

// withoutZeros removes zero members, as gateways do.
func withoutZeros(session map[string]any) map[string]any {
	maps.DeleteFunc(session, func(_ string, v any) bool {
		switch v := v.(type) {
		case nil:
			return true
		case string:
			return v == ""
		case bool:
			return !v
		case float64:
			return v == 0
		case []any:
			return len(v) == 0
		case map[string]any:
			return len(v) == 0
		}
		return false
	})
	return session
}

// listKeys returns keys of all organisations.
func listKeys(c *controlCall) (int, any) {
	names, api := []string{}, c.query.Get("api_id")
	for kept, k := range c.store.keys {
		rights, _ := c.v.applied(k.session)["access_rights"].(map[string]any)
		if _, reaches := rights[api]; reaches || api == "" {
			names = append(names, kept)
		}
	}
	if api != "" {
		slices.Sort(names)
	}
	return http.StatusOK, map[string]any{"keys": names}
}

func deleteKey(c *controlCall) (int, any) {
	kept, k := c.find("")
	if k == nil {
		return failed(http.StatusNotFound, "There is no such key found")
	}
	delete(c.store.keys, kept)
	c.store.forget(kept)
	return http.StatusOK, done{Key: c.PathValue("key"), Status: "ok", Action: "deleted"}
}

// previewKey returns what would be stored.
func previewKey(c *controlCall) (int, any) {
	session, ok := decodeSession(c.body)
	if !ok {
		return failed(http.StatusBadRequest, "Request malformed")
	}
	if _, err := newSession(c.v.policies, text(session, "org_id"), policiesOf(session)); err != nil {
		return failed(http.StatusInternalServerError, notCreated)
	}
	return http.StatusOK, withoutZeros(c.v.applied(session))
}

// policyOfKey changes the policies of a key, given by its hash.
func policyOfKey(c *controlCall) (int, any) {
	k := c.store.keys[c.PathValue("hash")]
	if k == nil {
		return failed(http.StatusNotFound, "Key not found")
	}
	var wanted struct {
		Policy string
		Apply  []any `json:"apply_policies"`
	}
	if json.Unmarshal(c.body, &wanted) != nil {
		return failed(http.StatusBadRequest, "Couldn't decode instruction")
	}
	if wanted.Policy != "" {
		wanted.Apply = append(wanted.Apply, wanted.Policy)
	}
	session := maps.Clone(k.session)
	session["apply_policies"] = wanted.Apply
	k.session = session
	return http.StatusOK, done{Key: c.PathValue("hash"), Status: "ok", Action: "updated"}
}
