package migrate

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/migrate"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// promoted returns a staged copy, in its current version, in the form of the original.
func (m *migration) promoted(staged []store.Stored[apidef.API], original *doc.Node) (migrate.Result, error) {
	var r migrate.Result
	var base *doc.Node
	for i, a := range staged {
		def, document, err := a.Value.Texts()
		if err != nil {
			return r, err
		}
		v := migrate.Version{Classic: def, OAS: document}
		if i == 0 {
			base, v.Name = def, def.Get("definition", "name").Text()
			r.Base = v
		} else {
			v.BaseID = base.Get("api_id").Text()
			for name, id := range base.Get("definition", "versions").Members() {
				if id.Text() == a.Value.APIID() {
					v.Name = name
					break
				}
			}
			r.Versions = append(r.Versions, v)
		}
		// The addresses of the copy are removed: the original has others.
		in := servers.Input{Old: def, Config: m.Forms.Hosts}
		if i > 0 {
			in.OldBase = base
		}
		if err := servers.Merge(document, in); err != nil {
			return r, err
		}
	}
	return migrate.Promote(r, original), nil
}

// draft makes the drafts of a result, or sets the problems in the step. k is the link of the
// API to its base, if it is a version.
func (m *migration) draft(st *step, result migrate.Result, k forms.Link) {
	st.copies += 2 * result.Repeated // in both forms
	for i, v := range append([]migrate.Version{result.Base}, result.Versions...) {
		d := apidef.Draft{
			ID: forms.AnyID, APIID: v.Classic.Get("api_id").Text(), OrgID: m.scope.Org(), Class: apidef.OAS, Document: v.OAS,
		}
		known := i == 0 && m.request.Mode != Stage
		if known {
			d.ID = st.of.Value.ID()
		}
		forms.Identify(d)
		// A copy may have been edited by a client that accepted unknown members. A new
		// conversion has none, so clients can write it back.
		problems := m.Forms.Problems(d.Document, d.Class, m.request.Mode == Promote)
		if len(problems) == 0 {
			problems = forms.ProblemsOf(m.Forms.Convert(&d, v.Classic, k))
		}
		if len(problems) == 0 {
			problems = forms.ProblemsOf(m.Forms.Writable(d.Document, nil))
		}
		if !known { // the database ID is generated when it is stored
			d.Document.Delete(oas.ExtensionKey, "info", "dbId")
		}
		for _, text := range texts(problems) {
			if i > 0 {
				text = "version " + v.Name + ": " + text
			}
			st.wrong = append(st.wrong, text)
		}
		if i == 0 {
			k = forms.Link{Base: d.Definition, OldBase: d.Definition}
		} else {
			st.copies += d.Definition.Weight(m.most()) + d.Document.Weight(m.most())
		}
		st.drafts = append(st.drafts, d)
	}
}

// carryOut stores the result for one API, and returns the number of changed records.
// All checks come before the first write, so that a refusal leaves nothing behind.
func (m *migration) carryOut(ctx context.Context, w store.Writer, st step) (step, int, error) {
	if changed, err := m.changed(ctx, w, st); err != nil {
		return st, 0, err
	} else if changed {
		if st, err = m.step(ctx, w, st.id); err != nil {
			return st, 0, err
		}
	}
	if len(st.wrong) > 0 {
		return st, 0, nil
	}
	made, err := m.fit(ctx, w, &st)
	if err != nil || len(st.wrong) > 0 {
		return st, 0, err
	}
	if err = m.keep(ctx, w, st, made); m.request.Mode == Stage && len(st.gone) == 0 && fault.KindOf(err) == fault.Conflict {
		// The copy is the first record that is written, and another organisation has
		// its API ID, which can only be noticed by writing.
		st.wrong = texts(forms.ProblemsOf(err))
		return st, 0, nil
	}
	return st, len(st.gone) + len(made), err
}

// fit makes the APIs of a step, or sets in the step why they cannot be stored. A failure of
// the store says nothing about the API and ends the request.
func (m *migration) fit(ctx context.Context, r store.Reader, st *step) ([]apidef.API, error) {
	made, err := m.make(*st)
	if err == nil {
		err = m.room(ctx, r, *st, made)
	}
	if fault.Refuses(err) {
		st.wrong = texts(forms.ProblemsOf(err))
		return nil, nil
	}
	return made, err
}

// changed reports whether a record has changed since the step was made.
func (m *migration) changed(ctx context.Context, r store.Reader, st step) (bool, error) {
	if st.of.Rev == 0 {
		return true, nil
	}
	for _, a := range append([]store.Stored[apidef.API]{st.of}, st.gone...) {
		now, err := r.Get(ctx, m.APIs.Kind.Name, a.Value.ID())
		if err != nil || now.Rev != a.Rev {
			return true, nil
		}
	}
	if m.request.Mode != Stage || len(st.gone) > 0 {
		return false, nil
	}
	staged, err := m.staged(ctx, r, st.apiID)
	return len(staged) > 0, err
}

// make makes the APIs of a step, the base first. All get the owners of the original,
// and its categories, which a classic API has in its name.
func (m *migration) make(st step) ([]apidef.API, error) {
	old := st.of.Value
	text, err := old.AppendJSON(nil)
	if err != nil {
		return nil, err
	}
	wrapper, err := doc.LoadObject(text)
	if err != nil {
		return nil, err
	}
	wrapper = wrapper.With("categories", doc.NewStrings(old.Categories()).JSON()).With("hook_references", st.hooks.JSON()) // the other references are handlers in the document now
	var out []apidef.API
	for i, d := range st.drafts {
		d.Definition, d.Document = d.Definition.Clone(), d.Document.Clone() // a unit of work may run again
		d.Wrapper = wrapper
		var a apidef.API
		if i == 0 && m.request.Mode != Stage {
			a, err = old.As(d.Class).Rewrite(d, m.now)
		} else {
			d.ID = m.APIs.NewID()
			a, err = apidef.New(d, m.now)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// room refuses APIs whose IDs or addresses are taken, except by records that they
// replace.
func (m *migration) room(ctx context.Context, r store.Reader, st step, made []apidef.API) error {
	mine := map[string]bool{st.of.Value.ID(): m.request.Mode != Stage}
	for _, a := range st.gone {
		mine[a.Value.ID()] = true
	}
	if err := m.APIs.Acyclic(ctx, r, nil, made[0]); err != nil { // a copy may have been edited
		return err
	}
	for i, a := range made {
		for _, q := range []store.Query{{Index: apis.ByAPIID, Value: a.APIID()}, {Index: apis.ByAddress, Value: store.Indexed(a.Address())}} {
			if q.Value == "" {
				continue
			}
			for b, err := range m.APIs.Kind.Find(ctx, r, q) {
				switch {
				case err != nil:
					return err
				case mine[b.Value.ID()]:
				case q.Index == apis.ByAPIID:
					return apis.IDTaken()
				case m.APIs.Collide(a, b.Value):
					return sameURL(a)
				}
			}
		}
		for _, b := range made[:i] {
			if m.APIs.Collide(a, b) {
				return sameURL(a)
			}
		}
	}
	return nil
}

func sameURL(a apidef.API) error {
	return fault.New(fault.Denied, apis.CodeURLTaken, "Found API with same url. %s", a.ListenPath()).At("proxy.listen_path")
}

// keep stores the new APIs, and deletes the records that they replace.
func (m *migration) keep(ctx context.Context, w store.Writer, st step, made []apidef.API) error {
	for _, a := range st.gone {
		if err := m.APIs.Delete(ctx, w, a.Value); err != nil {
			return err
		}
	}
	for i, a := range made {
		a, err := m.APIs.Embed(ctx, w, a)
		if err != nil {
			return err
		}
		if i == 0 && m.request.Mode != Stage {
			err = m.APIs.Kind.Replace(ctx, w, a)
		} else {
			err = apis.Taken(m.APIs.Kind.Insert(ctx, w, a))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
