// Package transfer imports resources from elsewhere into the store: folders of
// gateways, and exports of control planes. Existing resources are updated, by the IDs
// that clients and gateways know.
package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gatehouse-io/gatehouse/app/apis/importing"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/app/registry"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/folder"
	"github.com/gatehouse-io/gatehouse/core/policy"
	providers "github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Service imports.
type Service struct {
	Store    store.Store
	APIs     *importing.Service
	Policies *policies.Service
	IDPs     *registry.ClientIDPs
	// Organisations returns all organisations.
	Organisations func(ctx context.Context) ([]tenant.ID, error)
}

// Tally has the names of the records of one kind, by result.
type Tally struct {
	Created   []string
	Changed   []string
	Unchanged []string
}

// Len returns the number of records.
func (t Tally) Len() int { return len(t.Created) + len(t.Changed) + len(t.Unchanged) }

// Writes returns the number of records that are written.
func (t Tally) Writes() int { return len(t.Created) + len(t.Changed) }

// Report is the result of an import or of a dry run.
type Report struct {
	OrgID    tenant.ID
	Stored   bool // false: a dry run, or there are problems
	APIs     Tally
	Policies Tally
	IDPs     Tally
	Problems []folder.Problem
}

// Writes returns the number of records that are written.
func (r Report) Writes() int { return r.APIs.Writes() + r.Policies.Writes() + r.IDPs.Writes() }

// CodeRefused is the code of an import that was not carried out.
const CodeRefused = "import.refused"

// Progress is called with the progress of an import.
type Progress func(done, total int, name string)

// item is one record to store.
type item struct {
	name  string
	place folder.Place
	tally func(*Report) *Tally
	put   func(ctx context.Context, w store.Writer) (store.Op, error)
}

// keep stores the record.
func (it item) keep(ctx context.Context, w store.Writer) (store.Op, error) {
	op, err := it.put(ctx, w)
	if err != nil {
		err = fmt.Errorf("import %s: %w", it.name, err)
	}
	return op, err
}

// storable is an item, or a type that embeds one.
type storable interface {
	keep(ctx context.Context, w store.Writer) (store.Op, error)
}

// Import stores a bundle in one organisation, completely or, if there is any problem,
// not at all. Then the report lists every problem, and the error is a fault with the
// code CodeRefused. A dry run does everything except storing. progress, which may be
// nil, is called as the records of the bundle are checked. Gateways are told once to
// reload everything.
func (s *Service) Import(ctx context.Context, scope tenant.Scope, b folder.Bundle, dryRun bool, progress Progress) (Report, error) {
	items, problems := s.prepare(scope.Org(), b, progress)
	report := Report{OrgID: scope.Org(), Problems: problems}
	if dryRun {
		ctx, _ = store.Rehearse(ctx, store.Onlooker{})
	}
	_, err := s.Store.Update(ctx, scope, func(w store.Writer) error {
		report = Report{OrgID: scope.Org(), Problems: problems[:len(problems):len(problems)]}
		err := putAll(ctx, w, items, func(it item, op store.Op, refused *fault.Error) {
			if refused != nil {
				report.Problems = append(report.Problems, it.place.Problem(refused.Field, "%s", refused.Message))
				return
			}
			t := it.tally(&report)
			switch op {
			case store.Created:
				t.Created = append(t.Created, it.name)
			case store.Updated:
				t.Changed = append(t.Changed, it.name)
			default:
				t.Unchanged = append(t.Unchanged, it.name)
			}
		})
		if err != nil {
			return err
		}
		if n := len(report.Problems); n > 0 {
			noun := "problem"
			if n > 1 {
				noun = "problems"
			}
			return fault.New(fault.Invalid, CodeRefused, "nothing was imported: %d %s", n, noun)
		}
		return announce(ctx, w, report.Writes())
	})
	report.Stored = err == nil && !dryRun
	return report, err
}

// putAll stores records one by one, and calls told with the result of each. A version
// whose base leads back to itself is tried again after the others, because the others
// may change that.
func putAll[T storable](ctx context.Context, w store.Writer, things []T, told func(T, store.Op, *fault.Error)) error {
	for last := false; len(things) > 0; {
		var later []T
		for _, t := range things {
			if err := ctx.Err(); err != nil { // this rolls back what has been stored so far
				return err
			}
			op, err := t.keep(ctx, w)
			// A record that cannot be stored is passed to told; a failure of the store
			// ends the import.
			f, _ := errors.AsType[*fault.Error](err)
			refused := fault.Refuses(err)
			switch {
			case refused && f.Code == versions.CodeItself && !last:
				later = append(later, t)
			case refused || err == nil:
				told(t, op, f)
			default:
				return err
			}
		}
		things, last = later, len(later) == len(things)
	}
	return nil
}

// announce tells gateways once to reload everything
// (docs/wire/announcements.md#commands).
func announce(ctx context.Context, w store.Writer, writes int) error {
	if writes == 0 {
		return nil
	}
	return notify.Post(ctx, w, signal.Signal{Command: signal.GroupReload})
}

// prepare checks a bundle as far as that is possible without the store. APIs come
// first, MCP proxies after the other APIs: proxies are checked against REST APIs, and
// policies against both.
func (s *Service) prepare(org tenant.ID, b folder.Bundle, progress Progress) (items []item, problems []folder.Problem) {
	done := 0
	next := func(name string, it item, wrong []folder.Problem) {
		if problems = append(problems, wrong...); len(wrong) == 0 {
			items = append(items, it)
		}
		if done++; progress != nil {
			progress(done, b.Len(), name)
		}
	}
	proxies := func(mcp bool) {
		for _, a := range b.APIs {
			if (a.Class == apidef.MCP) == mcp {
				it, wrong := s.api(org, a)
				next(a.ID, it, wrong)
			}
		}
	}
	proxies(false)
	proxies(true)
	for _, p := range b.Policies {
		it, wrong := s.policy(org, p)
		next(p.ID, it, wrong)
	}
	for _, p := range b.IdPs {
		it, wrong := s.idp(org, p)
		next(p.ID, it, wrong)
	}
	return items, problems
}

func (s *Service) api(org tenant.ID, a folder.API) (item, []folder.Problem) {
	checked, wrong := s.APIs.Check(importing.Incoming{
		APIID: a.ID, Class: a.Class, Definition: a.Definition.Clone(), Document: a.Document.Clone(), Wrapper: a.Wrapper,
	}, org)
	at := a.Place
	if a.Document != nil {
		at = a.DocumentAt
	}
	var problems []folder.Problem
	for _, p := range wrong {
		problems = append(problems, at.Problem(p.Field, "%s", p.Message))
	}
	return item{
		name: title(a.ID, a.Name()), place: a.Place, tally: func(r *Report) *Tally { return &r.APIs },
		put: func(ctx context.Context, w store.Writer) (store.Op, error) { return s.APIs.Put(ctx, w, checked) },
	}, problems
}

func (s *Service) policy(org tenant.ID, p folder.Policy) (item, []folder.Problem) {
	var wrong []folder.Problem
	for _, t := range policy.CheckIncoming(p.Node) {
		wrong = append(wrong, p.Place.Problem(t.Path, "%s", t.Demand()))
	}
	text := p.Node.JSON()
	return item{
		name: title(p.ID, p.Node.Get("name").Text()), place: p.Place, tally: func(r *Report) *Tally { return &r.Policies },
		put: func(ctx context.Context, w store.Writer) (store.Op, error) { return s.Policies.Put(ctx, w, org, text) },
	}, wrong
}

func (s *Service) idp(org tenant.ID, p folder.IdP) (item, []folder.Problem) {
	var d providers.Draft
	var wrong []folder.Problem
	err := decode(p.Node, &d)
	if err == nil {
		_, err = providers.New("", org, s.IDPs.Now(), d)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		wrong = append(wrong, p.Place.Problem(f.Field, "%s", f.Message))
	} else if err != nil {
		wrong = append(wrong, p.Place.Problem("", "%s", err.Error()))
	}
	id := p.Node.Get("_id").Text()
	return item{
		name: title(p.ID, d.Name), place: p.Place, tally: func(r *Report) *Tally { return &r.IDPs },
		put: func(ctx context.Context, w store.Writer) (store.Op, error) { return s.IDPs.Put(ctx, w, org, id, d) },
	}, wrong
}

// decode decodes a draft. The error names a member with a wrong type.
func decode(n *doc.Node, d *providers.Draft) error {
	for _, name := range []string{"client_idp_id", "name", "issuer", "jwks_uri", "scope_claim_name"} {
		if v := n.Get(name); !v.Is(doc.Absent, doc.TypeNull, doc.TypeString) {
			return fault.New(fault.Invalid, providers.Kind+"."+name, "must be a string, not %s", v.Type()).At(name)
		}
	}
	return json.Unmarshal(n.JSON(), d)
}

// title returns the name of a record for people.
func title(id, name string) string {
	if name == "" || name == id {
		return id
	}
	return fmt.Sprintf("%s (%s)", id, name)
}
