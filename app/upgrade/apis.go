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

// upgradedAPI returns an API with the changes of the migrations at start in its
// document, and a note on each change. Without notes the API is unchanged. The time of
// the last change stays, because no user changed the API.
func upgradedAPI(a apidef.API) (apidef.API, []string, error) {
	if a.Document() == nil {
		return a, nil, nil
	}
	// The document alone shows that most APIs are up to date. It is much smaller than
	// the definition.
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
	// The definition that gateways execute may differ from the one that follows from
	// the document, where clients may write the definition directly.
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

// upgradeAPI stores the upgraded form of an API in a unit of work of its organisation.
// It writes nothing and returns no notes if the API is up to date or was deleted.
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

// misplaced reports whether a record is indexed under another address than that of its
// API: earlier versions treated listen paths such as /a and /a/ as the same.
func misplaced(rec store.Record, a apidef.API) bool {
	at := a.Address()
	return at != "" && !slices.ContainsFunc(rec.Keys, func(k store.Key) bool { return k.Index == apis.ByAddress && k.Value == store.Indexed(at) })
}
