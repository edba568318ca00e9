package gatewaysim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Binding is the mapping of one identity provider for one API.
type Binding struct {
	IdP           string // client_idp_id
	Issuer        string // compared exactly with iss
	JWKSURI       string
	ScopeClaim    string            // "" for the default
	ScopeToPolicy map[string]string // scope to policy id
}

// registry is the client identity provider registry. It is immutable: each refresh replaces it
// as a whole.
type registry struct {
	idps  []string
	byAPI map[string][]Binding // in feed order
}

type idpRecord struct {
	ID         string `json:"client_idp_id"`
	OrgID      string `json:"org_id"` // read for its type only
	Name       string // read for its type only
	Issuer     string
	JWKSURI    string `json:"jwks_uri"`
	ScopeClaim string `json:"scope_claim_name"`
	Mappings   map[string]struct {
		ScopeToPolicy map[string]string `json:"scope_to_policy"`
	} `json:"api_mappings"`
}

// parseRegistry decodes the Message of /system/clientidps; any wrong type refuses all of it. A
// record is identified by client_idp_id: of two with the same one only the last issuer and key
// set count, for the bindings of both (docs/wire/feeds.md#client-idps).
func parseRegistry(message json.RawMessage) (*registry, error) {
	var records []idpRecord
	if len(message) > 0 {
		if err := json.Unmarshal(message, &records); err != nil {
			return nil, fmt.Errorf("%s: feed refused: %w", pathIdPs, err)
		}
	}
	last := map[string]idpRecord{}
	for _, r := range records {
		last[r.ID] = r
	}
	reg := &registry{byAPI: map[string][]Binding{}}
	for _, r := range records {
		reg.idps = append(reg.idps, r.ID)
		for apiID, m := range r.Mappings {
			reg.byAPI[apiID] = append(reg.byAPI[apiID], Binding{
				IdP: r.ID, Issuer: last[r.ID].Issuer, JWKSURI: last[r.ID].JWKSURI,
				ScopeClaim: r.ScopeClaim, ScopeToPolicy: m.ScopeToPolicy,
			})
		}
	}
	return reg, nil
}

// Bindings returns the registry's bindings of a loaded API in feed order, nil for an API that
// is not loaded: its mappings have no effect.
func (g *Gateway) Bindings(apiID string) []Binding {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.proc.apis.byID[apiID] == nil {
		return nil
	}
	list := slices.Clone(g.proc.registry.byAPI[apiID])
	for i := range list {
		list[i].ScopeToPolicy = maps.Clone(list[i].ScopeToPolicy)
	}
	return list
}
