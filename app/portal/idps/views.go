package idps

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Listed is a provider in lists, without its token.
type Listed struct {
	ID                    table.ID `json:"ID"`
	CID                   string   `json:"CID"`
	Name                  string   `json:"Name"`
	Type                  string   `json:"Type"`
	WellKnownURL          string   `json:"WellKnownURL"`
	SSLInsecureSkipVerify bool     `json:"SSLInsecureSkipVerify"`
	ScopeClaimName        string   `json:"ScopeClaimName"`
	CreatedAt             string   `json:"CreatedAt"`
	UpdatedAt             string   `json:"UpdatedAt"`
}

// Shown is the full representation of a provider.
type Shown struct {
	Listed
	ClientTypes []Type `json:"ClientTypes"`
}

// Type is a client type.
type Type struct {
	ID                      table.ID `json:"ID"`
	CID                     string   `json:"CID"`
	Name                    string   `json:"Name"`
	Description             string   `json:"Description"`
	ResponseTypes           string   `json:"ResponseTypes"`
	GrantType               string   `json:"GrantType"`
	TokenEndpointAuthMethod string   `json:"TokenEndpointAuthMethod"`
	OktaAppType             string   `json:"OktaAppType" doc:"Used only with Okta."`
	CreatedAt               string   `json:"CreatedAt"`
	UpdatedAt               string   `json:"UpdatedAt"`
}

func list(_ context.Context, _ store.Reader, p idp.Provider) (Listed, error) {
	return Listed{p.ID, p.CID, p.Name, p.Type, p.WellKnownURL, p.Insecure, p.ScopeClaim, table.Stamp(p.CreatedAt), table.Stamp(p.UpdatedAt)}, nil
}

func show(ctx context.Context, r store.Reader, p idp.Provider) (out Shown, err error) {
	out.Listed, _ = list(ctx, r, p)
	out.ClientTypes = []Type{}
	all, err := typesOf(ctx, r, p.ID)
	for _, t := range all {
		shown, _ := listType(ctx, r, t)
		out.ClientTypes = append(out.ClientTypes, shown)
	}
	return out, err
}

func listType(_ context.Context, _ store.Reader, t idp.ClientType) (Type, error) {
	return Type{
		t.ID, t.CID, t.Name, t.Description, string(t.ResponseTypes), string(t.GrantType), string(t.TokenEndpointAuthMethod), t.OktaAppType,
		table.Stamp(t.CreatedAt), table.Stamp(t.UpdatedAt),
	}, nil
}
