package main

import (
	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app/serve"
)

func (c *cli) portalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "portal",
		Short: "Run the developer portal and nothing else until it is told to stop",
		Long: `Runs the API of the developer portal under /portal-api, and its probes at /live and
/ready, on the port HostPort of its own settings (3001). The dashboard runs elsewhere.
"gatehouse serve" runs the portal too, beside the dashboard, when portal.serve says so.

Settings of the portal come from portal.conf in the working folder, or the file that
portal.configuration names, and from variables that begin with SVC_PORTAL_. Its data is in
storage.main, under the name portal.id.

The first admin is made by POST /portal-api/bootstrap, whose answer has the API token.`,
		Example: "  SVC_PORTAL_HOSTPORT=3001 gatehouse portal\n" +
			`  curl -d '{"username":"you@example.com","password":"s3cret"}' http://localhost:3001/portal-api/bootstrap`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.portal = true
			s, log, err := c.settings()
			if err != nil {
				return err
			}
			return serve.Run(cmd.Context(), s, log, buildVersion(), nil)
		},
	}
	cmd.AddCommand(c.drift())
	return cmd
}
