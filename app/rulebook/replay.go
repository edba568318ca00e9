package rulebook

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// Bounds of a replay.
const (
	presetWrites = 100
	maxWrites    = 1000
	maxLooked    = 20_000          // records of the trail, including those of refused calls
	replayTime   = 5 * time.Second // for reading the trail and evaluating
	maxReplays   = 2               // at once, in the whole process
	maxTold      = 5               // reasons per write
	maxReason    = 200             // bytes
)

var (
	exampleReplayed = map[string]any{"open_policy": map[string]string{"rules": exampleRules}, "last": 100}
	exampleReplay   = Replay{
		Rules: FromRequest, InForce: true, Coverage: exampleCoverage, Writes: 100, Replayed: 97, LeftOut: map[string]int{noRequest: 1, noUser: 2}, Complete: true,
		Refused: []Refusal{{
			ID: "00000000000000000000002a", Timestamp: 1767323045, User: "ada@example.com", Method: "DELETE", URL: "/api/apis/oas/orders",
			Operation: "apis.oas.delete", Verdict: Denied, Reasons: []string{"Ask the platform team"}, Certain: true,
		}},
	}
)

// replayed says how many writes are evaluated again, and with which rules.
type replayed struct {
	policyBody
	Last *int `json:"last,omitempty" doc:"Number of newest audited writes to replay, 1 to 1000. Default: 100."`
}

// Reasons why a write was not evaluated.
const (
	noRequest   = "no_request"   // the process made the commit by itself, or the trail does not have the whole URL
	noOperation = "no_operation" // rules do not decide about such a request
	noUser      = "no_user"      // the user was deleted
	noTime      = "no_time"
)

// Refusal is a write that the rules would have refused.
type Refusal struct {
	ID        string   `json:"_id" doc:"Identifier of the audit record."`
	Timestamp int64    `json:"timestamp" doc:"Unix seconds."`
	User      string   `json:"user" doc:"E-mail address of the user."`
	Method    string   `json:"method"`
	URL       string   `json:"url" doc:"URL in the audit record."`
	Operation string   `json:"operation" doc:"ID of the operation."`
	Verdict   string   `json:"verdict" doc:"deny or none. none: the rules gave no verdict, and the request would have failed."`
	Reasons   []string `json:"reasons" doc:"Reasons of the refusal, five at most."`
	Failure   string   `json:"failure,omitempty" doc:"Error that prevented a verdict."`
	Certain   bool     `json:"certain" doc:"true: the rules had all the input that they may read; see uncertain."`
}

// Replay is the result of a replay.
type Replay struct {
	Rules     string         `json:"rules" doc:"Source of the rules that were tried: request, organisation or service."`
	InForce   bool           `json:"in_force" doc:"true: rules decide about requests. false: permission maps decide."`
	ReadsBody bool           `json:"reads_body" doc:"true: the rules may read request bodies, which the audit trail does not store."`
	Writes    int            `json:"writes" doc:"Number of writes that were found."`
	Replayed  int            `json:"replayed" doc:"Number of these writes for which the rules were evaluated."`
	Uncertain int            `json:"uncertain" doc:"Number of verdicts that depend on a body or query that is not completely known. For these the rules saw only the members that the request changed, without secrets and lists."`
	Refused   []Refusal      `json:"refused" doc:"Writes that the rules would not have allowed, newest first."`
	LeftOut   map[string]int `json:"left_out" doc:"Number of writes that were not evaluated, by reason. no_request: the program made the write itself, or the URL was not stored completely. no_operation: rules do not decide about such requests. no_user: the user does not exist any more. no_time: the time limit was reached."`
	Coverage  rules.Coverage `json:"coverage" doc:"Lines of the rules that at least one of the writes evaluated."`
	Complete  bool           `json:"complete" doc:"true: the requested number of writes was found, or all that exist."`
}

type replayIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	Body  replayed `body:""`
}

// Replay returns which of the last audited writes the rules would have refused. It uses
// the current users and the current data that rules look up. It changes nothing.
func (s *Service) Replay(ctx context.Context, in replayIn) (out Replay, err error) {
	w, err := s.open(in.Scope)
	if err != nil {
		return out, err
	}
	if !in.Who.Permissions.Admin() { // callers whom only rules admit must not learn what other users may do
		return out, fault.New(fault.Denied, codeUser, "access denied: only an admin can replay the writes of other users")
	}
	last := presetWrites
	if in.Body.Last != nil {
		last = *in.Body.Last
	}
	if last < 1 || last > maxWrites {
		return out, fault.New(fault.Invalid, codeLast, "last must be a number from 1 to %d", maxWrites).At("last")
	}
	select {
	case s.replays <- struct{}{}:
	case <-ctx.Done():
		return out, unusable(ctx.Err())
	}
	defer func() { <-s.replays }()
	k, whose, err := s.candidate(ctx, w, in.Scope, in.Body.policyBody)
	if err != nil {
		return out, err
	}
	out = Replay{Rules: whose, InForce: s.Decides, ReadsBody: k.ReadsBody(), Refused: []Refusal{}, LeftOut: map[string]int{}}
	defer func() { out.Coverage = k.Coverage() }()
	records, err := s.writes(ctx, in.Scope, last, &out)
	if err != nil {
		return out, err
	}
	bounded, cancel := context.WithTimeout(ctx, s.replayTime)
	defer cancel()
	p := play{Service: s, Replay: &out, rules: k, scope: in.Scope, people: map[string]*operation.Principal{}}
	for _, r := range records {
		if err := p.again(bounded, r); err != nil {
			return out, err
		}
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
	return out, nil
}

// trials are operations that change nothing although their HTTP method is one of
// writes.
var trials = []string{"rules.evaluate", "rules.replay"}

// writes returns the newest records of successful writes.
func (s *Service) writes(ctx context.Context, scope tenant.Scope, last int, out *Replay) (list []audit.Record, err error) {
	looked := 0
	out.Complete = true
	err = s.Trail(ctx, scope, func(r audit.Record) bool {
		if looked++; looked > maxLooked {
			out.Complete = false
			return false
		}
		if r.Verdict == audit.Allowed && !slices.Contains(trials, r.Operation) {
			list = append(list, r)
		}
		return len(list) < last
	})
	out.Writes = len(list)
	return list, err
}

// play evaluates the rules on records, one after the other.
type play struct {
	*Service
	*Replay
	rules  rules.Candidate
	scope  tenant.Scope
	people map[string]*operation.Principal // nil: the user was deleted
}

// again evaluates the rules on one record.
func (p *play) again(ctx context.Context, r audit.Record) error {
	c, certain, why, err := p.call(ctx, r)
	if err == nil && why == "" {
		var t rules.Trial
		if t, err = p.rules.Try(ctx, c, false); err == nil {
			p.Replayed++
			if !certain {
				p.Uncertain++
			}
			f := Finding{}.of(t, false)
			if f.Verdict == Allowed {
				return nil
			}
			reasons := f.Reasons[:min(len(f.Reasons), maxTold)]
			for i := range reasons {
				reasons[i] = audit.Bounded(reasons[i], maxReason)
			}
			p.Refused = append(p.Refused, Refusal{
				ID: r.ID, Timestamp: r.Timestamp, User: r.User, Method: r.Method, URL: r.URL, Operation: r.Operation,
				Verdict: f.Verdict, Reasons: reasons, Failure: audit.Bounded(f.Failure, maxReason), Certain: certain,
			})
			return nil
		}
	}
	if ctx.Err() != nil {
		err, why = nil, noTime
	}
	if why != "" {
		p.LeftOut[why]++
	}
	return err
}

// call returns the call of a record, as far as the trail keeps it, or the reason why it
// cannot be evaluated.
func (p *play) call(ctx context.Context, r audit.Record) (c *operation.Call, certain bool, why string, err error) {
	if ctx.Err() != nil {
		return nil, false, noTime, nil
	}
	q, ok := r.Request()
	if !ok {
		return nil, false, noRequest, nil
	}
	o, values := p.Find(q.Method, q.Path)
	if o == nil || o.Surface != operation.Management || o.Public {
		return nil, false, noOperation, nil
	}
	who, err := p.who(ctx, r.Actor)
	if who == nil || err != nil {
		return nil, false, noUser, err
	}
	c = &operation.Call{Spec: &o.Spec, Principal: *who, Scope: p.scope, Method: q.Method, RawPath: q.Path, Path: values, Query: q.Query}
	takes := o.Body != nil
	if takes && q.Changed != nil {
		c.Body = q.Changed
	}
	return c, !q.Masked && !(takes && p.ReadsBody), "", nil
}

// who returns a user in its current state, or nil.
func (p *play) who(ctx context.Context, id string) (*operation.Principal, error) {
	if who, ok := p.people[id]; ok {
		return who, nil
	}
	var who *operation.Principal
	switch found, err := p.Identity.Someone(ctx, p.scope, id); {
	case err == nil:
		who = &found
	case fault.KindOf(err) != fault.NotFound:
		return nil, err
	}
	p.people[id] = who
	return who, nil
}
