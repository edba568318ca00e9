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
		Short: "Find keys and credentials of a running portal that have no other half",
		Long: `Asks a running portal for keys at its dashboards that belong to no credential, by the tags
of the portal and the policies of its products and plans, for credentials whose keys are gone,
for clients at identity providers that stand for no credential, and for mappings in registries
that are not as they should be, and prints a line for each. With --fix they are deleted or
mended; the next run finds nothing.

The API token of an admin is read from ` + tokenVariable + `.

Exit codes: 0 nothing is left behind, or all of it was deleted; 3 something is; 1 the portal
could not be asked.`,
		Example: "  export " + tokenVariable + "=eyJh…\n  gatehouse portal doctor --url https://portal.example.com\n  gatehouse portal doctor --fix",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return d.run(cmd.Context(), os.Getenv(tokenVariable), c.out)
		},
	}
	d.flags(cmd, "print JSON: what the portal answers")
	cmd.Flags().BoolVar(&d.fix, "fix", false, "delete what has no other half")
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
