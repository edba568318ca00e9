package versioning

import (
	"context"
	"errors"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// others returns the classic definitions of the bases of a child version, in order of their
// database IDs, without the base that has the database ID but. known has definitions that
// were read before; nil: none.
func (s *Service) others(ctx context.Context, r store.Reader, child, but string, known map[string]*doc.Node) (out []*doc.Node, err error) {
	for rec, err := range r.Scan(ctx, toChild(child)) {
		if err != nil {
			return nil, err
		}
		if rec.ID == but {
			continue
		}
		def, read := known[rec.ID]
		if !read {
			b, err := s.APIs.Kind.Decode(rec)
			if errors.Is(err, store.ErrDamaged) { // gateways do not load it
				continue
			}
			if err == nil {
				def, _, err = b.Texts()
			}
			if err != nil {
				return nil, err
			}
			if known != nil {
				known[rec.ID] = def
			}
		}
		if def.Get("api_id").Text() != child { // earlier releases may have stored a table with its own API
			out = append(out, def)
		}
	}
	return out, nil
}

// othersBut returns the classic definitions of the other bases of a child version. Most
// versions have one base, which is not read again for each of them.
func (s *Service) othersBut(ctx context.Context, r store.Reader, child string, base apidef.API, stored bool, known map[string]*doc.Node) ([]*doc.Node, error) {
	n, err := r.Count(ctx, toChild(child))
	if stored && slices.Contains(base.ChildIDs(), child) {
		n--
	}
	if err != nil || n <= 0 {
		return nil, err
	}
	return s.others(ctx, r, child, base.ID(), known)
}

func toChild(id string) store.Query {
	return store.Query{Kind: apidef.Kind, Index: apis.ByChild, Value: store.Indexed(id)}
}
