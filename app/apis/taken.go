package apis

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// collision refuses an API that would listen where another one does (contract
// dashboard.md 9.3). The unique index decides between writers that cannot see
// each other; this finds what one index cannot: an API for every gateway
// against one for some. Where listen paths may be shared, the name counts as well.
func (l *Library) collision(ctx context.Context, r store.Reader, a apidef.API) error {
	if a.Address() == "" {
		return nil
	}
	for b, err := range l.kind.Find(ctx, r, store.Query{Index: byAddress, Value: store.Indexed(a.Address())}) {
		if err != nil {
			return err
		}
		if l.Settings.DuplicatePaths && b.Value.Name() != a.Name() {
			continue
		}
		if b.Value.ID() != a.ID() && a.Collides(b.Value) {
			return urlTaken()
		}
	}
	return nil
}

// idTaken says the same of an API that the caller sees as of one of another
// organisation: whose it is is not the caller's business.
func idTaken() *fault.Error {
	return fault.New(fault.Conflict, codeTaken, "Found API with the same ID").At("api_id")
}

func urlTaken() *fault.Error {
	return fault.New(fault.Denied, codeURLTaken, "Found API with same url.").At("proxy.listen_path")
}

// taken tells apart which unique value of an API is in use.
func taken(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok || f.Code != codeTaken:
		return err
	case f.Field == byAPIID:
		return idTaken().Because(f.Err)
	case f.Field == byPlace || f.Field == byTwin:
		return urlTaken().Because(f.Err)
	case f.Field == byProxy:
		return fault.New(fault.Conflict, codeNameTaken, "Found MCP Proxy with the same name").At("x-tyk-api-gateway.info.name").Because(f.Err)
	}
	return err
}
