package upgrade

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/migrate"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// upgradedAPI returns an API with what the migrations of a start write into its
// document, and notes on each of these changes; without notes it is as it was. The time
// of the last change stays: no user changed anything.
func upgradedAPI(a apidef.API) (apidef.API, []string, error) {
	if a.Document() == nil {
		return a, nil, nil
	}
	// Most are up to date, which the document alone, much smaller than the definition, tells.
	draft, err := doc.ParseNode(a.Document())
	if err != nil {
		return a, nil, err
	}
	if changed, _ := migrate.Upgrade(draft, doc.NewObject()); !changed {
		return a, nil, nil
	}
	def, document, err := a.Texts()
	if err != nil {
		return a, nil, err
	}
	changed, notes := migrate.Upgrade(document, def)
	if !changed {
		return a, nil, nil
	}
	// What gateways execute need not follow from the document where definitions may be written past
	// their documents.
	executed, said, err := a.Texts()
	if err != nil {
		return a, nil, err
	}
	if oas.Extract(said, executed, oas.Options{MCP: a.IsMCP()}).Equal(executed) {
		def = oas.Extract(document, def, oas.Options{MCP: a.IsMCP()})
	} else {
		notes = append(notes, "the classic definition does not follow from the document; what gateways execute is left as it is")
	}
	b, err := a.Rewrite(apidef.Draft{Class: a.Class(), Definition: def, Document: document}, a.Updated())
	return b, notes, err
}

// upgradeAPI stores the upgraded form of an API inside the unit of work of its
// organisation. It writes nothing, and there are no notes, when the API is up to date or
// gone.
func (s *Service) upgradeAPI(ctx context.Context, w store.Writer, id string) (notes []string, err error) {
	for a, err := range s.APIs.Kind.Find(ctx, w, store.Query{ID: id, Limit: 1}) {
		if err != nil {
			return nil, err
		}
		b, notes, err := upgradedAPI(a.Value)
		if err != nil {
			return nil, err
		}
		rec, err := w.Get(ctx, apidef.Kind, id)
		if err != nil {
			return nil, err
		}
		if misplaced(rec, a.Value) {
			notes = append(notes, "its listen path is looked up as it is written")
		}
		embedded, err := s.APIs.Embed(ctx, w, b)
		if err != nil {
			return nil, err
		}
		if a.Value.Abridged() && !embedded.Abridged() {
			notes = append(notes, "its hook_references hold the whole webhooks")
		}
		if len(notes) == 0 {
			return nil, nil
		}
		return notes, s.APIs.Kind.Replace(ctx, w, embedded)
	}
	return nil, nil
}

// misplaced reports whether a record is looked up under another address than its API
// has: earlier versions took listen paths such as /a and /a/ for one.
func misplaced(rec store.Record, a apidef.API) bool {
	at := a.Address()
	return at != "" && !slices.ContainsFunc(rec.Keys, func(k store.Key) bool { return k.Index == apis.ByAddress && k.Value == store.Indexed(at) })
}
