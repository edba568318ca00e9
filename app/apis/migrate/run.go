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

// migration is one request under way.
type migration struct {
	*Service
	scope   tenant.Scope
	request MigrationRequest
	viewer  apidef.Viewer
	now     time.Time
	steps   []step // what was found out before anything is stored
	out     MigrationResponse
	copies  int // about how many bytes the children of all steps take, and what APIs repeat of themselves
}

// step is what is to be done with one API: it is skipped, or it fails, or its
// drafts are stored.
type step struct {
	id     string // as asked for, or the API ID
	apiID  string
	of     store.Stored[apidef.API]
	key    string // why it is skipped
	wrong  []string
	notes  []string
	hooks  *doc.Node      // hook_references of events that documents do not know
	drafts []apidef.Draft // the base first
	copies int            // about how many bytes the further ones take, and what all repeat of themselves
	gone   []store.Stored[apidef.API]
}

// failed reports whether an API that should be migrated cannot be.
func (st step) failed() bool { return st.key == "" && len(st.wrong) > 0 }

// most is about how many bytes the children of all APIs of a request may take: it keeps them
// in memory.
func (m *migration) most() int { return cmp.Or(m.MaxCopies, 8*migrate.MaxRepeated) }

// plan finds out what to do with each API and, in a dry run, answers that.
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

// targets returns what was asked for. All are the APIs of the lists; copies that are
// staged belong to their originals.
func (m *migration) targets(ctx context.Context, r store.Reader) ([]string, error) {
	if !m.request.All {
		var ids []string
		asked := map[string]bool{} // a body has room for 300,000 of them
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

// step finds out what to do with one API. Errors are trouble of the store.
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

// attach makes event handlers of the webhooks that the wrapper of a classic API refers to:
// documents have them among their own handlers, where people can change and remove them.
// References for events that no document may name stay references, which gateways are given all the same.
func (m *migration) attach(ctx context.Context, r store.Reader, st *step, def *doc.Node) (failed error) {
	st.hooks = doc.NewArray()
	list, err := doc.ParseNode(st.of.Value.HookReferences())
	if err != nil || m.APIs.Hook == nil { // there are none
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

// convertible finds out what a classic API becomes.
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
		// Webhooks that the original refers to since the copy was staged.
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
	m.draft(st, result)
	return nil
}

func texts(problems []validation.Problem) (out []string) {
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

// staged returns the staged copy of an API, the base first; nothing when there is none. It leaves
// out an API that only has the ID of a copy, and one that others have added to the versions of a
// copy: copies are replaced and deleted.
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

// store carries the steps out, all of them in one unit of work, so that gateways
// hear of several at once.
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

// answer says what became of each API.
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
