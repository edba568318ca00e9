package gatewaysim

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Refusals of keys that were created through the control API.
var (
	expired      = Decision{Status: http.StatusUnauthorized, Body: "Key has expired, please renew"}
	unauthorised = Decision{Status: http.StatusUnauthorized, Body: "User not authorised"}
)

// held is the session of a key that was created through the control API, for a request with
// the key.
type held struct {
	Session
	kept string
}

// stored finds a key that was created through the control API, by its text or its chosen
// identifier.
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

// decideStored checks a key by its session and the session's policies.
func (v view) decideStored(a *api, r *request, token string) Decision {
	kept, k, ok := v.stored(a.OrgID, token)
	if !ok {
		return disallowed
	}
	policies := policiesOf(k.session)
	s, err := newSession(v.policies, a.OrgID, policies)
	s.own(k.session)
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

// SessionOf returns the permissions of a key of an organisation whose session names
// policies, or has its own rights and limits, at a gateway with these policies.
func SessionOf(policies []json.RawMessage, org string, session json.RawMessage) (Session, error) {
	var fields map[string]any
	if err := json.Unmarshal(session, &fields); err != nil {
		return Session{}, err
	}
	loaded, err := parsePolicies(nil, policies)
	if err != nil {
		return Session{}, err
	}
	s, err := newSession(loaded, org, policiesOf(fields))
	if err == nil {
		s.own(fields)
		s.Inactive = s.Inactive || fields["is_inactive"] == true
	}
	return s, err
}

// own adds the session's own settings where its policies have none. An API with a limit in
// its rights is counted separately; policies that name the API without giving rights to it
// do not limit it.
func (s *Session) own(session map[string]any) {
	text, err := json.Marshal(session)
	var p policy
	if err != nil || json.Unmarshal(text, &p) != nil {
		return // it was decodable when it was stored
	}
	if !s.acl {
		s.Rights, s.PerAPI, s.Each = map[string]Access{}, map[string]Limit{}, map[string]bool{}
		for api, r := range p.AccessRights {
			s.Rights[api] = r.Access
			if r.Limit != nil && (r.Limit.Rate != 0 || r.Limit.QuotaMax != 0 || r.Limit.Depth != 0) {
				s.PerAPI[api], s.Each[api] = *r.Limit, true
			}
		}
	}
	if s.Limit.Rate == 0 && !s.sets[0] {
		s.Limit = s.Limit.withRate(p.Limit)
	}
	if s.Limit.Depth == 0 && !s.sets[2] {
		s.Limit.Depth = p.Depth
	}
	if s.Limit.QuotaMax == 0 && !s.sets[1] {
		s.Limit.QuotaMax, s.Limit.QuotaRenewal = p.QuotaMax, p.QuotaRenewal
	}
	tags := s.Tags
	s.Tags = appendNew(slices.Clone(p.Tags), tags)
	meta := maps.Clone(p.MetaData)
	if meta == nil {
		meta = map[string]any{}
	}
	maps.Copy(meta, s.Meta)
	s.Meta = meta
}

// decideUser checks the name and the password of a basic-auth user.
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
