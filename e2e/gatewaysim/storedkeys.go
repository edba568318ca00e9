package gatewaysim

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Refusals of keys that were made through the control API.
var (
	expired      = Decision{Status: http.StatusUnauthorized, Body: "Key has expired, please renew"}
	unauthorised = Decision{Status: http.StatusUnauthorized, Body: "User not authorised"}
)

// held is the session of a key that was made through the control API, as a request of its
// holder meets it.
type held struct {
	Session
	kept string
}

// stored finds a key that was made through the control API, by its text or the identifier
// that was chosen for it.
func (v view) stored(org, token string) (kept string, k storedKey, ok bool) {
	s, cfg := v.p.cfg.Store, v.p.cfg
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kept := range []string{cfg.kept(token), cfg.kept(cfg.token(org, token))} {
		if k := s.keys[kept]; k != nil && text(k.session, "org_id") == org {
			return kept, *k, true
		}
	}
	return "", storedKey{}, false
}

// decideStored judges a key by its session and the policies that this names.
func (v view) decideStored(a *api, r *request, token string) Decision {
	kept, k, ok := v.stored(a.OrgID, token)
	if !ok {
		return disallowed
	}
	policies := policiesOf(k.session)
	s, err := newSession(v.policies, a.OrgID, policies)
	s.own(k.session, len(policies) > 0)
	expires := int64(number(k.session, "expires"))
	switch {
	case err != nil:
		return disallowed
	case s.Inactive || k.session["is_inactive"] == true:
		return inactive
	case expires > 0 && expires < time.Now().Unix():
		return expired
	case !s.Grants(a.APIID) || len(s.Rights) == 0:
		return disallowed
	}
	r.held = &held{s, kept}
	return Decision{Status: http.StatusOK, Policies: policies, Identity: token}
}

// own adds what a session says itself where its policies say nothing.
func (s *Session) own(session map[string]any, hasPolicies bool) {
	text, err := json.Marshal(session)
	var p policy
	if err != nil || json.Unmarshal(text, &p) != nil {
		return // it was decoded when it was stored
	}
	if len(s.Rights) == 0 && len(s.PerAPI) == 0 {
		s.Rights, s.PerAPI = map[string]Access{}, map[string]Limit{}
		for api, r := range p.AccessRights {
			s.Rights[api] = r.Access
			if r.Limit != nil && !hasPolicies {
				s.PerAPI[api] = *r.Limit
			}
		}
	}
	if s.Limit.Rate == 0 {
		s.Limit.Rate, s.Limit.Per = p.Rate, p.Per
	}
	if s.Limit.QuotaMax == 0 {
		s.Limit.QuotaMax, s.Limit.QuotaRenewal = p.QuotaMax, p.QuotaRenewal
	}
}

// decideUser judges the name and the password of a basic-auth user.
func (v view) decideUser(a *api, r *request, credential string) Decision {
	scheme, rest, _ := strings.Cut(credential, " ")
	plain, err := base64.StdEncoding.DecodeString(rest)
	name, password, ok := strings.Cut(string(plain), ":")
	if err != nil || !ok || !strings.EqualFold(scheme, "basic") {
		return Decision{Status: http.StatusUnauthorized, Body: noField}
	}
	token := v.p.cfg.token(a.OrgID, name)
	_, k, ok := v.stored(a.OrgID, token)
	if !ok || bcrypt.CompareHashAndPassword(k.password, []byte(password)) != nil {
		return unauthorised
	}
	return v.decideStored(a, r, token)
}
