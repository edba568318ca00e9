package policies

import (
	"context"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// lookup is a cache of the APIs that one viewer asks about. It reads each API once.
type lookup struct {
	kind   *store.Kind[apidef.API]
	viewer apidef.Viewer
	asked  map[string]bool
	known  policy.APIs
	all    bool // known has all APIs that exist
}

func newLookup(kind *store.Kind[apidef.API], v apidef.Viewer) *lookup {
	return &lookup{kind: kind, viewer: v, asked: map[string]bool{}, known: policy.APIs{}}
}

// many is the number of APIs from which reading all APIs costs a store less than single
// lookups.
const many = 64

// fetch reads the APIs with the given IDs, as far as they exist.
func (l *lookup) fetch(ctx context.Context, r store.Reader, ids []string) error {
	if l.all {
		return nil
	}
	var unasked []string
	for _, id := range ids {
		if !l.asked[id] && !strings.ContainsRune(id, 0) { // or no store could look it up
			l.asked[id] = true
			unasked = append(unasked, id)
		}
	}
	if len(unasked) >= many {
		l.all = true
		return l.read(ctx, r, store.Query{})
	}
	for _, id := range unasked {
		if err := l.read(ctx, r, store.Query{Index: l.kind.Alias, Value: id, Limit: 1}); err != nil {
			return err
		}
	}
	return nil
}

func (l *lookup) read(ctx context.Context, r store.Reader, q store.Query) error {
	for a, err := range l.kind.Find(ctx, r, q) {
		if err != nil {
			return err
		}
		l.keep(a.Value)
	}
	return nil
}

func (l *lookup) keep(a apidef.API) {
	l.known[a.APIID()] = policy.API{MCP: a.IsMCP(), Foreign: !a.VisibleTo(l.viewer), AuthTypes: a.AuthTypes()}
}
