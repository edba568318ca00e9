package apis

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Acyclic refuses an API whose table of versions has new entries from which a path
// leads back to the API. In such a cycle, each API would be a version of the other, and
// deleting one with its versions would delete the other as well. before is the stored
// API, nil for a new one. Acyclic follows the tables from the API upwards, because most
// bases are versions of no other API.
func (s *Repository) Acyclic(ctx context.Context, r store.Reader, before *apidef.API, a apidef.API) error {
	added, above := a.ChildIDs(), []string{a.APIID()}
	switch {
	case before == nil:
	case before.APIID() != a.APIID(): // tables may have the new ID already, and those with the old ID get the new one
		above = append(above, before.APIID())
	default:
		known := before.ChildIDs()
		added = slices.DeleteFunc(added, func(id string) bool {
			_, found := slices.BinarySearch(known, id)
			return found
		})
	}
	if len(added) == 0 {
		return nil
	}
	for seen := map[string]bool{}; len(above) > 0; above = above[1:] {
		if _, back := slices.BinarySearch(added, above[0]); back {
			if a.Document() == nil {
				return versions.InDefinition(nil).LeadsBack(above[0])
			}
			return versions.InDocument(nil).LeadsBack(above[0])
		}
		for b, err := range s.Kind.Find(ctx, r, store.Query{Index: ByChild, Value: store.Indexed(above[0])}) {
			if err != nil {
				return err
			}
			if id := b.Value.APIID(); !seen[id] {
				seen[id], above = true, append(above, id)
			}
		}
	}
	return nil
}
