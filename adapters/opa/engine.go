// Package opa decides about calls with rules written in Rego: the rules of the caller's
// organisation, of a file, or the default rules (docs/wire/rules.md).
package opa

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/cache"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// Config says which rules to run and what they can read. The zero Config runs the default
// rules.
type Config struct {
	File  string        // Rego file that replaces the default rules; "": none
	Later bool          // File may be missing when the engine is created: the default rules apply until it exists
	Poll  time.Duration // how often Run checks File for changes; default 2 s

	// OrgRules returns the rules of an organisation, which completely replace File; ""
	// when the organisation has none. Nil: no organisation has any.
	OrgRules func(ctx context.Context, org tenant.ID) (text string, err error)
	// Security is input.config.security. It must not contain secrets.
	Security map[string]any
	// Lookup returns the answer that the caller of c would get for a GET of path, for
	// TykAPIGet. Nil: rules that call TykAPIGet fail.
	Lookup func(ctx context.Context, c *operation.Call, path string) (any, error)
	// ObjectKind returns "oas", "classic", "streams" or "" for the API that c
	// addresses, for isTykOas and its kin. Nil: always "".
	ObjectKind func(ctx context.Context, c *operation.Call) string

	// WholeTable puts the entries of all operations into input.permissions instead of
	// only the entry of the call. A large table makes decisions slow.
	WholeTable bool
	Timeout    time.Duration // of one decision; default 1 s
	Debug      bool          // log input and output of every decision, with secrets masked
	Logger     *slog.Logger  // default slog.Default()
}

// Engine is a rules.Engine. It is safe for concurrent use.
type Engine struct {
	cfg      Config
	rows     map[string]row // by operation ID
	words    vocabulary
	config   *ast.Term // input.config
	own      []function
	eval     []rego.EvalOption // options of all evaluations
	fixed    atomic.Pointer[ruleSet]
	fileText string // text of File when the engine was created
	cache    ruleCache
	stuck    stuck
	turns    turns
	compiles chan struct{} // limits concurrent compilations of texts that users try
}

var (
	_ rules.Thorough = (*Engine)(nil)
	_ rules.Workshop = (*Engine)(nil)
)

// ErrRules is wrapped by errors about a text that is not a usable rule set.
var ErrRules = rules.ErrText

// ErrNoVerdict is wrapped by errors of usable rules without a clear result: they failed,
// took too long or returned an unexpected value.
var ErrNoVerdict = errors.New("opa: no verdict")

// New returns an engine for calls of the given operations. It fails when
// cfg.File cannot be read or does not compile.
func New(cfg Config, ops []operation.Operation) (*Engine, error) {
	cfg.Poll = cmp.Or(max(cfg.Poll, 0), 2*time.Second)
	cfg.Timeout = cmp.Or(max(cfg.Timeout, 0), time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	security := cfg.Security
	if security == nil {
		security = map[string]any{}
	}
	config, err := ast.InterfaceToValue(map[string]any{"security": security})
	if err != nil {
		return nil, fmt.Errorf("opa: security settings: %w", err)
	}
	values := cache.NewInterQueryValueCache(context.Background(), &cache.Config{
		InterQueryBuiltinValueCache: cache.InterQueryBuiltinValueCacheConfig{MaxNumEntries: &expressions},
	})
	e := &Engine{
		cfg: cfg, config: settled(ast.NewTerm(config)), words: makeVocabulary(ops), rows: makeRows(ops, cfg.WholeTable),
		own: functions(cfg), compiles: make(chan struct{}, maxCompiles),
		eval: []rego.EvalOption{
			rego.EvalInterQueryBuiltinValueCache(values),
			// Results as Rego terms: their types say more than JSON would.
			rego.EvalGenerateJSON(func(t *ast.Term, _ *rego.EvalContext) (any, error) { return t.Value, nil }),
		},
	}
	e.cache.compile = func(text string, org tenant.ID) (*ruleSet, error) {
		set, err := e.compile(text, false)
		if err != nil {
			cfg.Logger.Error("rules of an organisation cannot be used; its requests are refused", "org_id", string(org), "error", err)
			return nil, err
		}
		set.module = nil // for the coverage tracer
		return set, nil
	}
	e.fileText, err = e.loadFixed()
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Decide implements rules.Engine. Anything that prevents a clear result is an error:
// rules fail closed.
func (e *Engine) Decide(ctx context.Context, c *operation.Call) (rules.Verdict, error) {
	set, org := e.fixed.Load(), c.Principal.OrgID
	if e.cfg.OrgRules != nil && org != "" {
		text, err := e.cfg.OrgRules(ctx, org)
		if err != nil {
			return rules.Verdict{}, fmt.Errorf("opa: rules of the organisation: %w", err)
		}
		if text != "" {
			if set, err = e.cache.entry(text, org).get(); err != nil { // without holding the lock: compiling takes milliseconds
				return rules.Verdict{}, err
			}
		}
	}
	if _, ok := e.rows[c.Spec.ID]; !ok {
		return rules.Verdict{}, fmt.Errorf("%w: operation %q is not in the table", ErrNoVerdict, c.Spec.ID)
	}
	var body []byte
	switch {
	case set.readsBody: // reading the body may take long, and does not count as time of the decision
		var err error
		if body, err = c.Settle(ctx); err != nil {
			body = c.Body // then the call ends after the decision
		}
	case e.cfg.Debug:
		body = c.Body
	}
	v, at, err := e.judge(ctx, set, c, body)
	if e.cfg.Debug {
		e.explain(ctx, c, at, v, err)
	}
	return v, discreet(err)
}

// DecidesNeeds implements rules.Thorough.
func (e *Engine) DecidesNeeds() {}

// judge evaluates a rule set on a call within the timeout of decisions: once, and once
// more for each further permission that the call needs. It returns the last input.
func (e *Engine) judge(ctx context.Context, set *ruleSet, c *operation.Call, body []byte, tracers ...topdown.QueryTracer) (v rules.Verdict, in ast.Value, err error) {
	r := e.rows[c.Spec.ID]
	inputs := []ast.Value{e.input(c, r, body)}
	for _, n := range r.needs {
		if n.Arises(c) {
			inputs = append(inputs, e.input(c, n.row, body))
		}
	}
	fixed := set == e.fixed.Load() && len(tracers) == 0 // rules of the operator, which are trusted
	if !fixed {
		end, err := e.turns.take(ctx, c.Principal.OrgID) // waiting does not count as time of the decision
		if err != nil {
			return v, inputs[0], fmt.Errorf("%w: rules had no turn: %w", ErrNoVerdict, err)
		}
		defer end()
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	var at atomic.Int32 // an evaluation that timed out may still run
	decide := func() (v rules.Verdict, err error) {
		for i, in := range inputs {
			at.Store(int32(i))
			one, err := e.evaluate(ctx, set, c, in, tracers...)
			if i == 0 {
				v = one
			}
			if v.Denials = one.Denials; err != nil || len(v.Denials) > 0 {
				return v, err
			}
		}
		return v, nil
	}
	if fixed {
		v, err = decide()
	} else {
		tracers = append(tracers, new(comparing))
		v, err = within(ctx, &e.stuck, c.Principal.OrgID, decide)
	}
	switch {
	case ctx.Err() != nil && !errors.Is(err, ErrNoVerdict):
		err = fmt.Errorf("%w: rules were stopped: %w", ErrNoVerdict, ctx.Err())
	case errors.Is(err, errStuck):
		err = fmt.Errorf("%w: %w", ErrNoVerdict, err)
	}
	return v, inputs[at.Load()], err
}

// discreet returns an error of an evaluation without texts that can quote passwords; the
// location is enough to find the cause.
func discreet(err error) error {
	t, ok := errors.AsType[*topdown.Error](err)
	switch {
	case ok && errors.Is(err, errTooMuch):
		return fmt.Errorf("%w: %w at %v", ErrNoVerdict, errTooMuch, t.Location)
	case ok:
		return fmt.Errorf("%w: %s at %v", ErrNoVerdict, t.Code, t.Location)
	}
	return err
}
