package providers

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// target is the input of an operation on one provider.
type target struct {
	ID string `path:"provider_id" doc:"Number or CID of a provider."`
}

func (s *Service) synchronise(ctx context.Context, in target) (portal.Done, error) {
	p, _, err := s.find(ctx, in.ID)
	if err == nil {
		_, err = s.Synchronise(ctx, p.ID)
	}
	return portal.Executed("Synchronize"), err
}

// Drift is the differences between a portal and a dashboard.
type Drift struct {
	ProviderID  table.ID     `json:"ProviderID"`
	Provider    string       `json:"Provider"`
	Differences []Difference `json:"Differences"`
	Problems    []Problem    `json:"Problems"`
}

// Difference is one difference.
type Difference struct {
	Kind     string   `json:"Kind" doc:"Kind of the record: product, plan or none."`
	Drift    string   `json:"Drift" doc:"Kind of the difference: one of twelve fixed words."`
	Cause    string   `json:"Cause"`
	Name     string   `json:"Name"`
	CID      string   `json:"CID" doc:"CID of the record; empty if there is none."`
	PolicyID string   `json:"PolicyID" doc:"Identifier of the policy at the dashboard."`
	Field    string   `json:"Field" doc:"Field of the product or plan, if the difference is in one."`
	Members  []string `json:"Members" doc:"Members of the policy that differ."`
}

// Problem prevents the synchronisation of one record or policy.
type Problem struct {
	CID      string `json:"CID"`
	PolicyID string `json:"PolicyID"`
	Code     string `json:"Code"`
	Message  string `json:"Message"`
}

var exampleDrift = Drift{
	ProviderID: 1, Provider: "Acme dashboard",
	Differences: []Difference{{Kind: "plan", Drift: "expiry", Cause: sync.InDashboard.String(), Name: "Gold", CID: "2r7p8aUnkzby17hCJk8w2XvK3K6", PolicyID: "gold", Field: "KeyExpiresIn", Members: []string{"key_expires_in"}}},
	Problems:    []Problem{},
}

// drift compares both sides without changes.
func (s *Service) drift(ctx context.Context, in target) (Drift, error) {
	p, _, err := s.find(ctx, in.ID)
	if err != nil {
		return Drift{}, err
	}
	var report synchronise.Report
	way, err := s.reach(p)
	if err == nil {
		report, err = synchronise.Look(ctx, way, records{s, p.ID})
	}
	if failed := failure(p, err); failed != nil {
		err = failed
	}
	out := Drift{ProviderID: p.ID, Provider: p.Name, Differences: []Difference{}, Problems: []Problem{}}
	for _, d := range report.Differences {
		members := d.Member
		if members == nil {
			members = []string{}
		}
		cid := d.Record
		if !table.IsCID(cid) { // of a policy without a record
			cid = ""
		}
		out.Differences = append(out.Differences, Difference{d.Kind.String(), d.Drift.String(), d.Cause.String(), d.Name, cid, d.Policy.Name(), d.Field, members})
	}
	for _, p := range report.Problems {
		out.Problems = append(out.Problems, Problem{p.Record, p.Policy.Name(), p.Fault.Code, p.Fault.Message})
	}
	return out, err
}
