package scenarios

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// user creates a user of the organisation and returns its client and id.
func (s *service) user(t *testing.T, email string, permissions object) (*client, string) {
	t.Helper()
	var made struct {
		Message string
		Meta    struct{ ID string }
	}
	if err := s.admin.call(t.Context(), http.MethodPost, "/admin/users", object{"org_id": orgID, "first_name": "A", "last_name": "B",
		"email_address": email, "active": true, "user_permissions": permissions}, &made); err != nil {
		t.Fatal(err)
	}
	c := newClient(s.api.base, "Authorization", made.Message)
	t.Cleanup(c.http.CloseIdleConnections)
	return c, made.Meta.ID
}

// TestOwnership has two users who own one API each. Both see APIs without owners.
func TestOwnership(t *testing.T) {
	s := serve(t, onSQLite(t.TempDir()).bootstrapping().with(environment{"ENABLEOWNERSHIP": "true"}))
	rights := object{"apis": "write", "mcp": "write", "policies": "write"}
	ann, annID := s.user(t, "ann@example.com", rights)
	bob, bobID := s.user(t, "bob@example.com", rights)
	s.api.do(t, http.MethodPost, classicAPIs, classicAPI("common", nil))
	s.api.do(t, http.MethodPost, oasAPIs, oasAPI("anns", nil))
	bob.do(t, http.MethodPost, classicAPIs, classicAPI("bobs", nil)) // the creator of an API owns it
	s.api.do(t, http.MethodPut, classicAPIs+"/anns/access", object{"userIds": []string{annID}, "userGroupIds": []string{}})
	var owners struct{ UserIDs []string }
	if s.api.get(t, classicAPIs+"/bobs/access", &owners); len(owners.UserIDs) != 1 || owners.UserIDs[0] != bobID {
		t.Errorf("owners of what bob made: %+v", owners)
	}
	for who, c := range map[string]*client{"anns bobs common": s.api, "anns common": ann, "bobs common": bob} {
		for _, path := range []string{"?p=-1&sort=name", "/search?p=-1"} {
			if got := sorted(c.names(t, classicAPIs+path)); got != who {
				t.Errorf("%s: %s, want %s", path, got, who)
			}
		}
	}
	for _, path := range []string{classicAPIs + "/bobs", classicAPIs + "/bobs/access", classicAPIs + "/bobs/url"} {
		ann.refused(t, http.MethodGet, path, nil, http.StatusUnauthorized, "Not authorised")
	}
	bob.refused(t, http.MethodGet, oasAPIs+"/anns", nil, http.StatusUnauthorized, "Not authorised")
	bob.refused(t, http.MethodPut, oasAPIs+"/anns", oasAPI("anns", nil), http.StatusUnauthorized, "Not authorised")
	ann.refused(t, http.MethodPut, classicAPIs+"/bobs", classicAPI("bobs", nil), http.StatusUnauthorized, "Not authorised")
	ann.refused(t, http.MethodDelete, classicAPIs+"/bobs", nil, http.StatusUnauthorized, "Not authorised")
	for _, c := range []*client{s.api, ann, bob} {
		c.refused(t, http.MethodGet, classicAPIs+"/unknown", nil, http.StatusBadRequest, "Could not retrieve API detail")
		c.refused(t, http.MethodGet, oasAPIs+"/unknown", nil, http.StatusBadRequest, "Could not retrieve Api detail")
	}
	s.testPolicyVisibility(t, ann, bob)
	noAPIs, _ := s.user(t, "proxies@example.com", object{"mcp": "write"})
	noAPIs.refused(t, http.MethodGet, classicAPIs, nil, http.StatusForbidden, "")
	noAPIs.do(t, http.MethodGet, mcpProxies, nil)
}

// A policy is visible to users who see one of its APIs.
func (s *service) testPolicyVisibility(t *testing.T, ann, bob *client) {
	t.Helper()
	s.api.do(t, http.MethodPost, policies, policy("for-bob", nil, "bobs"))
	s.api.do(t, http.MethodPost, policies, policy("for-both", nil, "bobs", "anns"))
	s.api.do(t, http.MethodPost, policies, policy("for-nothing", nil, "never-made"))
	for want, c := range map[string]*client{"for-both for-bob for-nothing": s.api, "for-both for-nothing": ann, "for-bob for-both for-nothing": bob} {
		var list struct {
			Data []struct{ ID string }
		}
		c.get(t, policies+"?p=-1", &list)
		ids := []string{}
		for _, p := range list.Data {
			ids = append(ids, p.ID)
		}
		if sorted(ids) != sorted(words(want)) {
			t.Errorf("policies: %v, want %s", ids, want)
		}
	}
	ann.refused(t, http.MethodPost, policies, policy("stolen", nil, "bobs"), http.StatusUnauthorized, "")
}

func words(text string) []string { return strings.Fields(text) }

func sorted(list []string) string {
	slices.Sort(list)
	return strings.Join(list, " ")
}

// names returns the ids of APIs.
func (c *client) names(t *testing.T, path string) (ids []string) {
	t.Helper()
	var list struct {
		APIs []struct {
			Definition struct {
				APIID string `json:"api_id"`
			} `json:"api_definition"`
		}
	}
	c.get(t, path, &list)
	for _, a := range list.APIs {
		ids = append(ids, a.Definition.APIID)
	}
	return ids
}
