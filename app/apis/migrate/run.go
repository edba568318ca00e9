package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/migrate"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// migration is one request in progress.
type migration struct {
	*Service
	scope   tenant.Scope
	request MigrationRequest
	viewer  apidef.Viewer
	now     time.Time
	steps   []step // the plan, made before anything is stored
	out     MigrationResponse
	copies  int // approximate bytes of the children of all steps, and of what APIs repeat
}

// step is the plan for one API: it is skipped, it fails, or its drafts are stored.
type step struct {
	id     string // as in the request, or the API ID
	apiID  string
	of     store.Stored[apidef.API]
	key    string // reason to skip it
	wrong  []string
	notes  []string
	hooks  *doc.Node      // hook_references of events that documents cannot have
	drafts []apidef.Draft // the base first
	copies int            // approximate bytes of the further drafts, and of what all of them repeat
	gone   []store.Stored[apidef.API]
}

// failed reports whether an API cannot be migrated, although it is not skipped.
func (st step) failed() bool { return st.key == "" && len(st.wrong) > 0 }

// most bounds the approximate bytes of the children of all APIs of a request, because
// they are kept in memory.
func (m *migration) most() int { return cmp.Or(m.MaxCopies, 8*migrate.MaxRepeated) }

// plan makes the steps for all APIs. In a dry run it also makes the response.
func (m *migration) plan(ctx context.Context) error {
	return m.APIs.Store.View(ctx, m.scope, func(r store.Reader) error {
		ids, err := m.targets(ctx, r)
		if err != nil {
			return err
		}
		m.steps, m.copies = nil, 0
		for _, id := range ids {
			st, err := m.step(ctx, r, id)
			if m.copies+st.copies > m.most() && len(st.wrong) == 0 {
				st.drafts, st.copies = nil, 0
				st.wrong = []string{"The versions of all these APIs are too large for one request: migrate fewer APIs at a time"}
			}
			m.copies += st.copies
			if err == nil && m.request.Mode == DryRun && len(st.wrong) == 0 {
				_, err = m.fit(ctx, r, &st)
			}
			if err != nil {
				return err
			}
			m.steps = append(m.steps, st)
			if m.request.Abort && st.failed() {
				break
			}
		}
		if m.request.Mode == DryRun {
			m.answer(m.steps)
		}
		return nil
	})
}

// targets returns the IDs of the requested APIs. With All, they are the APIs of the
// lists, without staged copies, which belong to their originals.
func (m *migration) targets(ctx context.Context, r store.Reader) ([]string, error) {
	if !m.request.All {
		var ids []string
		asked := map[string]bool{} // a body has room for 300,000 IDs
		for _, id := range m.request.APIIDs {
			if !asked[id] {
				asked[id], ids = true, append(ids, id)
			}
		}
		return ids, nil
	}
	var found []apis.Listed
	known := map[string]bool{}
	for a, err := range m.APIs.Select(ctx, r, m.viewer, apis.Selection{}) {
		if err != nil {
			return nil, err
		}
		found = append(found, a)
		known[migrate.StagedID(a.Value.APIID())] = true
		for _, child := range a.Value.ChildIDs() {
			if strings.HasPrefix(a.Value.APIID(), migrate.StagedID("")) {
				known[child] = true
			}
		}
	}
	var ids []string
	oldest, err := apidef.Order("created_at")
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b apis.Listed) int { return oldest(&a.Value, &b.Value) })
	for _, a := range found {
		if !known[a.Value.APIID()] {
			ids = append(ids, a.Value.APIID())
		}
	}
	return ids, nil
}

// step makes the step for one API. Errors are failures of the store.
func (m *migration) step(ctx context.Context, r store.Reader, id string) (step, error) {
	st := step{id: id, apiID: id}
	a, err := m.APIs.Get(ctx, r, id, m.viewer)
	if kind := fault.KindOf(err); kind == fault.NotFound || kind == fault.Unauthenticated {
		st.wrong = texts(forms.ProblemsOf(err))
		return st, nil
	}
	if err != nil {
		return st, err
	}
	st.of, st.apiID = a, a.Value.APIID()
	def, _, err := a.Value.Texts()
	if err != nil {
		return st, err
	}
	var message string
	if st.key, message = migrate.Skip(def, a.Value.Class() == apidef.Streams); st.key != "" {
		st.wrong = []string{message}
		return st, nil
	}
	if err := m.attach(ctx, r, &st, def); err != nil {
		return st, err
	}
	err = m.convertible(ctx, r, &st, def)
	return st, err
}

// attach converts the webhooks that the wrapper of a classic API refers to into event
// handlers, where documents have them and users can change and remove them. References
// for events that documents cannot have stay references, which gateways get as well.
func (m *migration) attach(ctx context.Context, r store.Reader, st *step, def *doc.Node) (failed error) {
	st.hooks = doc.NewArray()
	list, err := doc.ParseNode(st.of.Value.HookReferences())
	if err != nil || m.APIs.Hook == nil { // no references
		return nil
	}
	known := doc.NewArray()
	for _, ref := range list.Items() {
		if oas.IsEvent(ref.Get("event_name").Text()) {
			known.Append(ref)
		} else {
			st.hooks.Append(ref)
		}
	}
	webhook.Attach(def, known, func(id string) (h webhook.Hook, ok bool) {
		text, err := m.APIs.Hook(ctx, r, id)
		if err == nil {
			err = json.Unmarshal(text, &h)
		}
		if err != nil && fault.KindOf(err) != fault.NotFound {
			failed = err
		}
		return h, err == nil
	})
	return failed
}

// convertible converts a classic API and sets the result in the step.
func (m *migration) convertible(ctx context.Context, r store.Reader, st *step, def *doc.Node) error {
	staged, err := m.staged(ctx, r, st.apiID)
	if err != nil {
		return err
	}
	var result migrate.Result
	switch mode := m.request.Mode; {
	case mode == Promote && len(staged) == 0:
		st.key, st.wrong = "not_staged", []string{"The API has no staged copy"}
		return nil
	case mode == Promote:
		if result, err = m.promoted(staged, def); err != nil {
			return err
		}
		// Adds webhooks to which the original has got references since the copy was
		// staged.
		for _, v := range append([]migrate.Version{result.Base}, result.Versions...) {
			if err := m.attach(ctx, r, st, v.Classic); err != nil {
				return err
			}
			if v.Classic.Get("event_handlers").Weight(migrate.MaxRepeated) > migrate.MaxRepeated/(1+len(result.Versions)) {
				st.wrong = []string{"The webhooks of the API are too large to be repeated in all its versions"}
				return nil
			}
			oas.FillHandlers(v.OAS, v.Classic)
		}
		st.gone = staged
	case mode == Stage && len(staged) > 0 && !m.request.Override:
		st.key, st.wrong = "already_staged", []string{"The API has a staged copy already; overrideStaged replaces it"}
		return nil
	default:
		var err error
		if result, err = migrate.Convert(def, m.APIs.NewAPIID); err != nil {
			st.wrong = texts(forms.ProblemsOf(err))
			return nil
		}
		if mode == Stage {
			st.gone = staged
			notes := result.Notes
			result = migrate.Stage(result)
			result.Notes = notes
		}
	}
	st.notes = result.Notes
	var k forms.Link
	if m.request.Mode != Stage { // a copy is no version of anything
		v := versioning.Service{APIs: m.APIs, Forms: m.Forms}
		if k, err = v.Link(ctx, r, st.of.Value); err != nil {
			return err
		}
	}
	m.draft(st, result, k)
	return nil
}

func texts(problems []validation.Problem) (out []string) {
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

// staged returns the staged copy of an API, the base first, or nothing if there is
// none. It leaves out an API that only has the ID of a copy, and APIs that users have
// added to the versions of a copy, because copies are replaced and deleted.
func (m *migration) staged(ctx context.Context, r store.Reader, apiID string) (out []store.Stored[apidef.API], err error) {
	out, err = store.Collect(m.APIs.Kind.Find(ctx, r, store.Query{Index: apis.ByAPIID, Value: migrate.StagedID(apiID), Limit: 1}))
	if err != nil || len(out) == 0 || out[0].Value.Class() == apidef.Classic || out[0].Value.IsMCP() {
		return nil, err
	}
	for _, id := range out[0].Value.ChildIDs() {
		if !strings.HasPrefix(id, migrate.StagedID("")) {
			continue
		}
		c, err := m.APIs.Kind.Get(ctx, r, id)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// store carries out all steps in one unit of work, so that gateways get one signal for
// several APIs.
func (m *migration) store(ctx context.Context) error {
	_, err := m.APIs.Store.Update(ctx, m.scope, func(w store.Writer) error {
		writes, done := 0, []step{}
		for _, planned := range m.steps {
			st, n, err := m.carryOut(ctx, w, planned)
			if err != nil {
				return err
			}
			writes, done = writes+n, append(done, st)
			if m.request.Abort && st.failed() {
				break
			}
		}
		m.answer(done)
		if writes > 1 {
			return notify.Post(ctx, w, signal.Signal{Command: signal.GroupReload})
		}
		return nil
	})
	return err
}

// answer makes the response with the result for each API.
func (m *migration) answer(steps []step) {
	m.out = emptyMigration()
	done := &m.out.Success
	for _, st := range steps {
		if st.key != "" {
			m.out.Skipped.APIs = append(m.out.Skipped.APIs, SkippedAPI{APIID: st.apiID, Message: st.wrong[0], Key: st.key})
			continue
		}
		if st.failed() {
			m.out.Failure.Errors = append(m.out.Failure.Errors, MigrationMessage{st.apiID, st.wrong})
			m.out.Aborted = m.request.Abort
			continue
		}
		done.APIIDs = append(done.APIIDs, st.apiID)
		if len(st.notes) > 0 {
			m.out.Warnings = append(m.out.Warnings, MigrationMessage{st.apiID, st.notes})
		}
		switch m.request.Mode {
		case Stage:
			done.Staged = append(done.Staged, StagedAPI{Classic: st.apiID, OAS: migrate.StagedID(st.apiID)})
		case DryRun:
			d := MigratedTexts{APIID: st.apiID, Base: st.drafts[0].Document, Versions: []*doc.Node{}}
			for _, child := range st.drafts[1:] {
				d.Versions = append(d.Versions, child.Document)
			}
			done.Definitions = append(done.Definitions, d)
		}
	}
	done.Count, m.out.Failure.Count, m.out.Skipped.Count = len(done.APIIDs), len(m.out.Failure.Errors), len(m.out.Skipped.APIs)
}
