package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/serve"
)

func (c *cli) portalCommand() *cobra.Command {
	var first portalFirst
	cmd := &cobra.Command{
		Use:   "portal",
		Short: "Run only the developer portal until a signal stops it",
		Long: `Runs the API of the developer portal under /portal-api, and its probes at /live and
/ready, on the port HostPort of its own settings (3001). The dashboard runs elsewhere.
"gatehouse serve" can run the portal beside the dashboard; see the setting portal.serve.

Portal settings come from one file and from environment variables that begin with
SVC_PORTAL_. The file is the one that portal.configuration names; otherwise the file of
--conf if it has portal settings (it may have settings of the service as well); otherwise
portal.conf in the working folder. The data of the portal is in storage.main; if that is
not set, in the database of Database.Dialect and Database.ConnectionString. It is stored
under the name portal.id. Other commands read storage.main only.

POST /portal-api/bootstrap creates the first admin and responds with the API token. With
--bootstrap, this command creates the admin, prints the token and serves the portal. A
portal with an admin does not change. The environment variables ADMIN_EMAIL, ADMIN_PASSWORD,
PROVIDER_NAME and PROVIDER_DATA replace --user, --pass, --provider-name and --provider-data
when these flags are absent.`,
		Example: "  SVC_PORTAL_HOSTPORT=3001 gatehouse portal\n" +
			`  curl -d '{"username":"you@example.com","password":"s3cret"}' http://localhost:3001/portal-api/bootstrap` + "\n" +
			`  gatehouse portal --bootstrap --user you@example.com --pass s3cret \` + "\n" +
			`    --provider-name Dashboard --provider-data '{"URL":"http://localhost:3000","Secret":"an-access-key"}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.portal = true
			s, log, err := c.settings()
			if err != nil {
				return err
			}
			if err := first.run(cmd.Context(), c, s, log); err != nil {
				return err
			}
			return service(cmd.Context(), s, log)
		},
	}
	first.flags(cmd)
	cmd.AddCommand(c.drift(), c.doctor())
	return cmd
}

// portalFirst bootstraps the portal before serving it.
type portalFirst struct {
	wanted bool
	serve.PortalFirst
}

// firstFlags are the names of the flags. Scripts may also write them with one dash.
var firstFlags = []string{"bootstrap", "user", "pass", "first-name", "last-name", "provider-name", "provider-type", "provider-data"}

func (f *portalFirst) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.wanted, "bootstrap", false, "create the first admin of the portal before it is served, and print the API token")
	flags.StringVar(&f.Admin.Username, "user", "", "e-mail address of the first admin (default: environment variable ADMIN_EMAIL)")
	flags.StringVar(&f.Admin.Password, "pass", "", "password of the first admin (default: environment variable ADMIN_PASSWORD, which is safer: other users of this machine may see flags)")
	flags.StringVar(&f.Admin.FirstName, "first-name", "", "first name of the first admin")
	flags.StringVar(&f.Admin.LastName, "last-name", "", "last name of the first admin")
	flags.StringVar(&f.ProviderName, "provider-name", "", "name of the first provider (default: environment variable PROVIDER_NAME, or \""+serve.FirstProvider+"\")")
	flags.StringVar(&f.ProviderType, "provider-type", "", "type of the first provider (default \"tyk-pro\")")
	flags.StringVar(&f.ProviderData, "provider-data", "", "settings of the first provider: a JSON object with URL, Secret, OrgID, Gateway, PoliciesTags (default: environment variable PROVIDER_DATA; without either, no provider is created)")
}

// completed sets fields without a flag from the environment. The values are not
// defaults of the flags, because help would show them. A provider name without data
// creates no provider.
func (f portalFirst) completed(getenv func(string) string) serve.PortalFirst {
	out := f.PortalFirst
	out.Admin.Username = cmp.Or(out.Admin.Username, getenv("ADMIN_EMAIL"))
	out.Admin.Password = cmp.Or(out.Admin.Password, getenv("ADMIN_PASSWORD"))
	out.ProviderData = cmp.Or(out.ProviderData, getenv("PROVIDER_DATA"))
	if out.ProviderData != "" {
		out.ProviderName = cmp.Or(out.ProviderName, getenv("PROVIDER_NAME"))
	}
	return out
}

// run bootstraps the portal if the flags ask for it.
func (f *portalFirst) run(ctx context.Context, c *cli, s config.Settings, log *slog.Logger) error {
	if !f.wanted {
		if f.PortalFirst != (serve.PortalFirst{}) {
			return fmt.Errorf("these flags need --bootstrap: --%s", strings.Join(firstFlags[1:], ", --"))
		}
		return nil
	}
	token, err := serve.BootstrapPortal(ctx, s, log, buildVersion(), f.completed(os.Getenv))
	switch {
	case token != "":
		if _, lost := fmt.Fprintln(c.out, token); lost != nil {
			err = errors.Join(err, fmt.Errorf("the admin is there, but the API token could not be printed, and is not printed again; once it is served, log in as the admin and make a new one: %w", lost))
		}
	case err == nil:
		log.Info("the portal has been bootstrapped before; it stays as it is")
	}
	if err != nil {
		err = fmt.Errorf("bootstrap of the portal: %w", err)
	}
	return err
}

// dashed adds a second dash to the flags of a bootstrap that have only one.
func dashed(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && slices.Contains(firstFlags, name) {
			a = "-" + a
		}
		out[i] = a
	}
	return out
}
