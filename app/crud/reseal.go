package crud

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Reseal seals again, with the current encryption key, the sealed texts that an older
// key protects, in all organisations, and returns how many there were. A text that no
// key opens stays as it is, because its key may be configured again.
func (ks Kinds) Reseal(ctx context.Context, st store.Store, keys secret.Keys) (n int, err error) {
	ctx = store.Attribute(ctx, store.Attribution{Actor: "rekey", Operation: "rekey"})
	for _, k := range ks {
		if k.reseal == nil {
			continue
		}
		more, err := k.reseal(ctx, st, keys)
		if n += more; err != nil {
			return n, err
		}
	}
	return n, nil
}

// resealing returns the function that seals the texts of a kind again.
func resealing[T any](k *store.Kind[T], sealed func(*T) *string) func(context.Context, store.Store, secret.Keys) (int, error) {
	return func(ctx context.Context, st store.Store, keys secret.Keys) (n int, err error) {
		var old []T
		err = st.View(ctx, tenant.Everyone("rekey"), func(r store.Reader) error {
			old = nil
			for v, err := range k.Find(ctx, r, store.Query{}) {
				if err != nil {
					return err
				}
				if text := *sealed(&v.Value); text != "" {
					if _, current, err := keys.Open(text); err == nil && !current {
						old = append(old, v.Value)
					}
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		for _, v := range old {
			scope, err := tenant.Of(k.Org(v))
			if err != nil {
				return n, err
			}
			_, err = st.Update(ctx, scope, func(w store.Writer) error {
				_, err := k.Edit(ctx, w, k.ID(v), nil, func(v T) (T, error) {
					at := sealed(&v)
					plain, _, err := keys.Open(*at)
					if err == nil {
						*at, err = keys.Seal(plain)
					}
					return v, err
				})
				return err
			})
			switch {
			case fault.KindOf(err) == fault.NotFound: // another process has deleted it since
			case err != nil:
				return n, err
			default:
				n++
			}
		}
		return n, nil
	}
}
