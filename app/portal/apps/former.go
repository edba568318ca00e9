package apps

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// reportedAs returns the name under which gateways report calls with a credential; "": it
// has no name of its own.
func reportedAs(v credential.Values) string { return cmp.Or(v.Hash, v.Key) }

// ended stores the key that a credential had before its values change or are removed, so
// that earlier calls with the key still count as usage of the app.
func (s *Service) ended(ctx context.Context, w store.Writer, c credential.Credential, then credential.Values) error {
	v, err := s.opened(c)
	name := reportedAs(v)
	if fault.CodeOf(err) == CodeSealed || name == "" || c.ProviderID == 0 || name == reportedAs(then) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := s.formerOf(ctx, w, c.AppID)
	if err != nil {
		return err
	}
	text, err := json.Marshal(list.With(credential.FormerKey{Provider: c.ProviderID, Name: name, Ended: s.Now().UTC()}))
	if err != nil {
		return err
	}
	f := credential.Former{Portal: w.Scope().Org(), App: c.AppID}
	if f.Sealed, err = s.Secrets.Seal(string(text)); err != nil {
		return err
	}
	_, err = formers.Edit(ctx, w, c.AppID.Key(), nil, func(credential.Former) (credential.Former, error) { return f, nil })
	if fault.KindOf(err) == fault.NotFound {
		err = formers.Insert(ctx, w, f)
	}
	return err
}

// formerOf returns the former keys of an app. Keys that no encryption key can open are
// not counted.
func (s *Service) formerOf(ctx context.Context, r store.Reader, app table.ID) (credential.FormerKeys, error) {
	f, err := formers.Get(ctx, r, app.Key())
	if err != nil {
		return nil, fault.AbsentFine(err)
	}
	text, _, err := s.Secrets.Open(f.Value.Sealed)
	if err != nil {
		return nil, nil //nolint:nilerr // said above
	}
	return credential.ReadFormer(text)
}
