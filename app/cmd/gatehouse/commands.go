package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/serve"
)

// bootstrap creates the first organisation directly in the store: no service needs to
// run, and a running one sees it.
func (c *cli) bootstrap() *cobra.Command {
	var f identity.First
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "bootstrap --email ADDRESS",
		Short: "Create the first organisation and its admin, unless they exist",
		Long: `Creates an organisation and an admin user in the configured store and prints the
admin's access key. Existing records do not change, so the command can run at every
start. Flags override the settings bootstrap.*.`,
		Example: "  gatehouse bootstrap --email you@example.com\n  gatehouse bootstrap --email you@example.com --json | jq -r .access_key",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, b, err := c.doBootstrap(cmd.Context(), f)
			if err != nil {
				return err
			}
			if err := c.printBootstrap(s, b, asJSON); err != nil {
				return fmt.Errorf("the admin is there, but the access key could not be printed; the same command prints it again: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Email, "email", "", "e-mail address of the admin")
	flags.StringVar(&f.Password, "password", "", "password of the admin (default: none; the access key is enough for the API)")
	flags.StringVar(&f.FirstName, "first-name", "", "first name of the admin (default \"Admin\")")
	flags.StringVar(&f.LastName, "last-name", "", "last name of the admin (default \"User\")")
	flags.StringVar(&f.OwnerName, "owner-name", "", "name of the organisation (default \"Default\")")
	flags.StringVar(&f.OwnerSlug, "owner-slug", "", "short name of the organisation, which identifies it in later runs (default \"default\")")
	flags.StringVar(&f.OrgID, "org-id", "", "identifier of the organisation (default: generated)")
	flags.StringVar(&f.AccessKey, "access-key", "", "access key of the admin (default: generated)")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// doBootstrap uses the flags and, for those that are not set, the settings.
func (c *cli) doBootstrap(ctx context.Context, f identity.First) (s config.Settings, b identity.Bootstrapped, err error) {
	s, log, err := c.settings()
	if err != nil {
		return s, b, err
	}
	if s.Storage.Type == config.Memory {
		return s, b, errors.New("storage.main.type is memory: nothing made now would be there later; set bootstrap.email so that the service does it at its start")
	}
	set := serve.First(s)
	for _, p := range []struct{ to, from *string }{
		{&f.OrgID, &set.OrgID}, {&f.OwnerName, &set.OwnerName}, {&f.OwnerSlug, &set.OwnerSlug}, {&f.Email, &set.Email},
		{&f.FirstName, &set.FirstName}, {&f.LastName, &set.LastName}, {&f.Password, &set.Password}, {&f.AccessKey, &set.AccessKey}, {&f.Rules, &set.Rules},
	} {
		if *p.to == "" {
			*p.to = *p.from
		}
	}
	if f.Email == "" {
		return s, b, errors.New("say who the admin is: --email you@example.com, or bootstrap.email")
	}
	comp, err := serve.Beside(ctx, s, log, buildVersion())
	if err != nil {
		return s, b, err
	}
	defer func() { err = errors.Join(err, comp.Close()) }()
	if err := comp.Start(ctx); err != nil {
		return s, b, err
	}
	b, err = comp.Bootstrap(ctx, f)
	return s, b, errors.Join(err, comp.Stop(ctx))
}

func (c *cli) printBootstrap(s config.Settings, b identity.Bootstrapped, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(c.out).Encode(map[string]any{
			"org_id": b.OrgID, "user_id": b.UserID, "access_key": b.AccessKey, "created": b.Created,
		})
	}
	what := "made"
	if !b.Created {
		what = "there already"
	}
	scheme := "http"
	if s.TLS.Enabled {
		scheme = "https"
	}
	_, err := fmt.Fprintf(c.out, `organisation  %s
admin         %s (%s)
access key    %s

Once the service runs, try:
  curl -H 'authorization: %s' %s://127.0.0.1:%d/api/clientidps
`, b.OrgID, b.UserID, what, b.AccessKey, b.AccessKey, scheme, s.Listen.Port)
	return err
}

func (c *cli) migrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the database schema and exit",
		Long: `Applies the missing migrations to the configured database, each in a transaction of
its own. "serve" does the same at its start; use this command to migrate before that.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, log, err := c.settings()
			if err != nil {
				return err
			}
			steps, err := serve.Migrate(cmd.Context(), s, log)
			for _, st := range steps {
				state := "was there"
				if st.Applied {
					state = "applied"
				}
				fmt.Fprintf(c.out, "%-28s %s\n", st.Name, state)
			}
			return err
		},
	}
}

func (c *cli) config() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Check the settings"}
	cmd.AddCommand(&cobra.Command{
		Use:   "check",
		Short: "Print the settings in effect, with secrets masked, and all problems",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, report := config.Read(c.conf, config.Options{Debug: c.debug})
			fmt.Fprint(c.out, string(s.YAML()))
			for _, w := range report.Warnings {
				fmt.Fprintln(c.errOut, "warning:", w)
			}
			if len(report.Problems) == 0 {
				return nil
			}
			for _, p := range report.Problems {
				fmt.Fprintln(c.errOut, "problem:", p.Error())
			}
			return &settingsError{fmt.Errorf("%d %s in the settings", len(report.Problems), plural(len(report.Problems), "problem"))}
		},
	})
	return cmd
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return strings.TrimSuffix(noun, "s") + "s"
}
