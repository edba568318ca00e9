package serve

import (
	"net"
	"strconv"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/config"
)

// maxList bounds an answer of a dashboard: a list of all its APIs or policies.
const maxList = 256 << 20

// portalOf translates the settings of the portal.
func portalOf(s config.Settings) app.Portal {
	return app.Portal{
		ID: s.Portal.ID, Shared: s.Portal.Serve == config.PortalShared, SigningKey: s.Portal.JwtSigningKey.Reveal(), Options: s.Portal.Shown(),
		Refresh: time.Duration(s.Portal.RefreshInterval) * time.Minute, Local: ownAddresses(s),
		Fetcher: fetch.New(fetch.Config{AllowPrivate: s.Portal.PrivateDashboards, MaxBytes: maxList}),
	}
}

// ownAddresses are those of the dashboard of this process.
func ownAddresses(s config.Settings) (out []string) {
	switch {
	case s.Portal.Serve == config.PortalAlone:
		return nil
	case len(s.Portal.Local) > 0 || s.Listen.Port == 0:
		return s.Portal.Local
	}
	scheme := "http://"
	if s.TLS.Enabled {
		scheme = "https://"
	}
	for _, host := range []string{"localhost", "127.0.0.1", "::1"} {
		out = append(out, scheme+net.JoinHostPort(host, strconv.Itoa(s.Listen.Port)))
	}
	return out
}
