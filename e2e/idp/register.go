package idp

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// register registers a client (RFC 7591, 3).
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	if token := s.InitialToken(); token != "" && bearer(r) != token {
		refuse(w, http.StatusUnauthorized, "invalid_token")
		return
	}
	metadata, ok := s.metadata(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	if id := s.keys[key]; s.flavour == Other && key != "" && s.clients[id] != nil {
		answer(w, http.StatusCreated, s.described(id))
		return
	}
	id := "client-" + strings.ToLower(rand.Text()[:12])
	c := &client{token: rand.Text(), metadata: metadata}
	if metadata["token_endpoint_auth_method"] != "none" {
		c.secret = rand.Text()
	}
	s.clients[id] = c
	if s.flavour == Other && key != "" {
		s.keys[key] = id
	}
	answer(w, http.StatusCreated, s.described(id))
}

// metadata decodes the metadata of a client, and refuses what every provider refuses.
func (s *Server) metadata(w http.ResponseWriter, r *http.Request) (m map[string]any, ok bool) {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&m); err != nil || m == nil {
		refuse(w, http.StatusBadRequest, "invalid_client_metadata")
		return nil, false
	}
	grants, _ := m["grant_types"].([]any)
	redirects, _ := m["redirect_uris"].([]any)
	for _, grant := range grants {
		if (grant == "authorization_code" || grant == "implicit") && len(redirects) == 0 {
			refuse(w, http.StatusBadRequest, "invalid_redirect_uri")
			return nil, false
		}
	}
	if s.flavour == Okta && m["application_type"] == nil {
		refuse(w, http.StatusBadRequest, "invalid_client_metadata")
		return nil, false
	}
	return m, true
}

// described returns a client for answers.
func (s *Server) described(id string) map[string]any {
	c := s.clients[id]
	out := maps.Clone(c.metadata)
	out["client_id"], out["client_id_issued_at"] = id, 1700000000
	if c.secret != "" {
		out["client_secret"], out["client_secret_expires_at"] = c.secret, s.ends
	}
	out["registration_client_uri"], out["registration_access_token"] = s.url+"/register/"+id, c.token
	if s.flavour == Gluu {
		out["registration_client_uri"] = s.url + "/register?client_id=" + url.QueryEscape(id)
	}
	return out
}

// about finds the client of a request, which must have the client's token. For a missing
// client the error is the same as for a wrong token (RFC 7592, 2.1), except with
// Keycloak.
func (s *Server) about(next func(http.ResponseWriter, *http.Request, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		if id == "" {
			id = r.URL.Query().Get("client_id")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		c := s.clients[id]
		switch {
		case c == nil && s.flavour == Keycloak:
			refuse(w, http.StatusNotFound, "not_found")
		case c == nil || bearer(r) != c.token:
			refuse(w, http.StatusUnauthorized, "invalid_token")
		default:
			if s.flavour == Keycloak {
				c.token = rand.Text()
			}
			next(w, r, id)
		}
	}
}

func (s *Server) read(w http.ResponseWriter, _ *http.Request, id string) {
	answer(w, http.StatusOK, s.described(id))
}

// update replaces a client (RFC 7592, 2.2): members that are not sent are removed.
func (s *Server) update(w http.ResponseWriter, r *http.Request, id string) {
	m, ok := s.metadata(w, r)
	if !ok {
		return
	}
	c := s.clients[id]
	secret, has := m["client_secret"]
	_, token := m["registration_access_token"]
	_, at := m["registration_client_uri"]
	if m["client_id"] != id || has && secret != c.secret || token || at {
		refuse(w, http.StatusBadRequest, "invalid_client_metadata")
		return
	}
	delete(m, "client_id")
	delete(m, "client_secret")
	c.metadata = m
	answer(w, http.StatusOK, s.described(id))
}

func (s *Server) remove(w http.ResponseWriter, _ *http.Request, id string) {
	delete(s.clients, id)
	w.WriteHeader(http.StatusNoContent)
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}
