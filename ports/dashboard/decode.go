package dashboard

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

// Limits of what a dashboard may list. A longer list is refused: the portal could not work
// with it.
const (
	maxPolicies = 50_000
	maxAPIs     = 50_000
)

// DecodePolicies reads a list of policies as dashboards send it.
func DecodePolicies(text []byte) ([]*doc.Node, error) {
	return items(text, maxPolicies, "Data", "data")
}

// DecodeAPIs reads a list of APIs as dashboards send it.
func DecodeAPIs(text []byte) ([]sync.API, error) {
	list, err := items(text, maxAPIs, "apis")
	out := make([]sync.API, 0, len(list))
	for _, w := range list {
		def := w.Get("api_definition")
		a := sync.API{
			ID: def.Get("api_id").Text(), Name: def.Get("name").Text(), Active: def.Get("active").True(),
			ListenPath: def.Get("proxy", "listen_path").Text(), Target: def.Get("proxy", "target_url").Text(),
		}
		if def.Is(doc.TypeObject) {
			a.AuthTypes = apidef.MethodsOf(def.JSON())
			slices.Sort(a.AuthTypes)
		}
		if a.ID != "" {
			out = append(out, a)
		}
	}
	return out, err
}

// WithProxies adds the MCP proxies of a dashboard, in its JSON form, to a list of APIs. err is
// the error of the request for the proxies: a dashboard that does not know proxies has none.
// If the user may not read them, sync.UnreadProxies is returned.
func WithProxies(out []sync.API, text []byte, err error) ([]sync.API, error) {
	switch {
	case errors.Is(err, ErrGone):
		return out, nil
	case errors.Is(err, ErrRefused):
		return append(out, sync.UnreadProxies), nil
	case err != nil:
		return nil, fmt.Errorf("list MCP proxies: %w", err)
	}
	list, err := items(text, maxAPIs, "mcps")
	for _, d := range list {
		info := d.Get("x-tyk-api-gateway", "info")
		if id := info.Get("id").Text(); id != "" {
			out = append(out, sync.API{ID: id, Name: info.Get("name").Text(), Proxy: true})
		}
	}
	return out, err
}

// items returns the objects of the list in text. text is the list itself or an object, and
// then the first of the members that is a list counts. A null member is an empty list:
// dashboards in Go encode a nil slice as null.
func items(text []byte, most int, members ...string) ([]*doc.Node, error) {
	n, err := doc.ParseNode(text)
	if err != nil {
		return nil, fmt.Errorf("%w: its list is not JSON", ErrUnreachable)
	}
	list := n
	for _, name := range members {
		v := n.Get(name)
		if v.Is(doc.TypeArray, doc.TypeNull) {
			list = v
		}
		if v.Is(doc.TypeArray) {
			break
		}
	}
	switch {
	case list != n && list.Is(doc.TypeNull):
		return nil, nil
	case !list.Is(doc.TypeArray):
		return nil, fmt.Errorf("%w: there is no list in its answer", ErrUnreachable)
	case list.Len() > most:
		return nil, fmt.Errorf("%w: it lists more than %d", ErrRefused, most)
	}
	return slices.DeleteFunc(list.Items(), func(v *doc.Node) bool { return !v.Is(doc.TypeObject) }), nil
}
