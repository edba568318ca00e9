package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/portal/door"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// PortalFirst is the first admin of a portal and, with a name or data, the first
// dashboard that it is connected to (docs/wire/portal.md#start).
type PortalFirst struct {
	Admin        door.First
	ProviderName string // "": FirstProvider, if there is a provider
	ProviderType string // "": tyk-pro
	ProviderData string // a JSON object: URL, Secret, OrgID, Gateway, PoliciesTags, InsecureSkipVerify
}

// FirstProvider is the default name of the first provider.
const FirstProvider = "Dashboard"

// check returns an error if the first provider is invalid. The admin is checked when it
// is created. A provider that is refused only then would leave half a bootstrap.
func (f PortalFirst) check() error {
	if f.ProviderName == "" {
		return nil
	}
	if f.ProviderType != "" && f.ProviderType != provider.TykPro {
		return fmt.Errorf("--provider-type %q is not known: expected %s", f.ProviderType, provider.TykPro)
	}
	if _, wrong := provider.ParseSettings(json.RawMessage(f.ProviderData)); len(wrong) > 0 {
		return fmt.Errorf("--provider-data: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// BootstrapPortal creates the first admin of the portal, and the first provider,
// directly in the store, and returns the token of the admin. If the portal has been
// bootstrapped before, it changes nothing and returns "".
func BootstrapPortal(ctx context.Context, s config.Settings, log *slog.Logger, version string, f PortalFirst) (token string, err error) {
	switch {
	case s.Storage.Type == config.Memory:
		return "", errors.New("storage.main.type is memory: nothing made now would be there later; POST /portal-api/bootstrap once the service runs")
	case s.Portal.Serve == "" || s.Portal.Serve == config.PortalOff:
		return "", errors.New("portal.serve is off: there is no portal to bootstrap")
	}
	if f.ProviderData != "" || f.ProviderType != "" {
		f.ProviderName = cmp.Or(f.ProviderName, FirstProvider)
	}
	if err := f.check(); err != nil {
		return "", err
	}
	c, err := Beside(ctx, s, log, version)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Start(ctx); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.Stop(context.WithoutCancel(ctx))) }()
	body, err := json.Marshal(f.Admin)
	if err != nil {
		return "", err
	}
	answer, err := c.Do(ctx, "portal.bootstrap", &operation.Call{Body: body})
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Code == door.CodeBootstrapped {
		return "", nil
	}
	made, _ := answer.(door.Bootstrapped)
	token = made.Data.APIToken
	if err != nil || f.ProviderName == "" {
		return token, err
	}
	if body, err = json.Marshal(map[string]any{"Name": f.ProviderName, "Type": provider.TykPro, "Configuration": map[string]string{"MetaData": f.ProviderData}}); err != nil {
		return token, err
	}
	_, err = c.Do(ctx, "portal-providers.create", &operation.Call{Token: token, Body: body})
	if err != nil {
		err = fmt.Errorf("the portal is bootstrapped, but its first provider could not be made: %w", err)
	}
	return token, err
}
