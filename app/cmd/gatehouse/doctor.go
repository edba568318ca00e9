package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app/portal/apps"
)

// doctoring is the command that asks for leftovers.
type doctoring struct {
	asking
	fix bool
}

func (c *cli) doctor() *cobra.Command {
	d := doctoring{asking: newAsking()}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find inconsistent keys, credentials, clients and mappings of a running portal",
		Long: `Asks a running portal for inconsistencies and prints a line for each: keys at dashboards
without a credential (keys with the tags of the portal and policies of its products and
plans), credentials whose keys do not exist any more, clients at identity providers without
a credential, and wrong mappings in registries. With --fix they are deleted or repaired, and
the next run finds nothing.

The environment variable ` + tokenVariable + ` must have the API token of an admin.

Exit codes: 0 no inconsistency is left; 3 inconsistencies are left; 1 the request to the
portal failed.`,
		Example: "  export " + tokenVariable + "=eyJh…\n  gatehouse portal doctor --url https://portal.example.com\n  gatehouse portal doctor --fix",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return d.run(cmd.Context(), os.Getenv(tokenVariable), c.out)
		},
	}
	d.flags(cmd, "print JSON: what the portal answers")
	cmd.Flags().BoolVar(&d.fix, "fix", false, "delete or repair the inconsistencies")
	return cmd
}

// run sends the request and prints the response.
func (d *doctoring) run(ctx context.Context, token string, out io.Writer) error {
	method, path := http.MethodGet, "/doctor"
	if d.fix {
		method, path = http.MethodPut, "/doctor/fix"
	}
	var found apps.Diagnosis
	if err := d.ask(ctx, token, method, path, &found); err != nil {
		return err
	}
	left := 0
	for _, f := range found.Findings {
		if !f.Fixed {
			left++
		}
	}
	if err := d.print(out, found); err != nil {
		return err
	}
	if left > 0 {
		return &ended{codeDrift, errors.New("something is left behind")}
	}
	return nil
}

// print prints the findings.
func (d *doctoring) print(out io.Writer, found apps.Diagnosis) error {
	if d.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(found)
	}
	for _, f := range found.Findings {
		done := ""
		switch {
		case f.Fixed && (f.Finding == apps.MappingAlone || f.Finding == apps.MappingLacking):
			done = ": mended"
		case f.Fixed:
			done = ": deleted"
		case f.Message != "":
			done = ": " + f.Message
		}
		if f.Finding == apps.MailUnsent {
			fmt.Fprintf(out, "%s %q%s\n", f.Finding, f.Alias, done)
			continue
		}
		fmt.Fprintf(out, "provider %d, app %d: %s %q%s\n", f.ProviderID, f.AppID, f.Finding, f.Alias, done)
	}
	if len(found.Findings) == 0 {
		fmt.Fprintln(out, "nothing is left behind")
	}
	return nil
}
