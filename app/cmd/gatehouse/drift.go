package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
)

// Constants of the drift command.
const (
	tokenVariable = "GATEHOUSE_PORTAL_TOKEN"
	codeDrift     = 3 // there are differences, or problems
	driftTime     = 11 * time.Minute
	maxDrift      = 256 << 20
)

// asking is a command that calls a running portal.
type asking struct {
	url    string
	json   bool
	client http.Client
}

func newAsking() asking {
	return asking{client: http.Client{Timeout: driftTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// flags adds the flags that all such commands have.
func (a *asking) flags(cmd *cobra.Command, printed string) {
	cmd.Flags().StringVar(&a.url, "url", "http://localhost:3001", "address of the portal")
	cmd.Flags().BoolVar(&a.json, "json", false, printed)
}

// drifting is the command that asks for drift.
type drifting struct {
	asking
	provider string
}

func (c *cli) drift() *cobra.Command {
	d := drifting{asking: newAsking()}
	cmd := &cobra.Command{
		Use:   "drift",
		Short: "List the differences between a running portal and its dashboards",
		Long: `Asks a running portal for all differences between its products and plans and the
policies of its dashboards, and prints a line for each: what differs, why, and in which
field. Nothing is changed. The next synchronisation repairs the differences. These
commands synchronise at once, one provider or all:

  curl -X PUT -H "Authorization: $` + tokenVariable + `" http://localhost:3001/portal-api/providers/1/synchronize
  curl -X PUT -H "Authorization: $` + tokenVariable + `" http://localhost:3001/portal-api/providers/all/synchronize

Synchronisation cannot repair a problem, such as a policy that names an API that does
not exist: correct it at the dashboard.

The environment variable ` + tokenVariable + ` must have the API token of an admin.

Exit codes: 0 no differences; 3 there are differences or problems; 1 a request to the
portal or a dashboard failed.`,
		Example: "  export " + tokenVariable + "=eyJh…\n  gatehouse portal drift --url https://portal.example.com\n  gatehouse portal drift --provider 1 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return d.run(cmd.Context(), os.Getenv(tokenVariable), c.out)
		},
	}
	d.flags(cmd, "print JSON: a list with an object for each provider")
	cmd.Flags().StringVar(&d.provider, "provider", "", "number or CID of one provider (default: all)")
	return cmd
}

// run sends the requests and prints the responses.
func (d *drifting) run(ctx context.Context, token string, out io.Writer) error {
	names := []string{d.provider}
	if d.provider == "" {
		var all []providers.Listed
		if err := d.ask(ctx, token, http.MethodGet, "/providers?page=-1&order_by=id", &all); err != nil {
			return err
		}
		names = names[:0]
		for _, p := range all {
			names = append(names, p.ID.String())
		}
	}
	found := make([]providers.Drift, len(names))
	for i, name := range names {
		if err := d.ask(ctx, token, http.MethodGet, "/providers/"+url.PathEscape(name)+"/drift", &found[i]); err != nil {
			return err
		}
	}
	if err := d.print(out, found); err != nil {
		return err
	}
	for _, f := range found {
		if len(f.Differences)+len(f.Problems) > 0 {
			return &ended{codeDrift, errors.New("the portal and its dashboards differ")}
		}
	}
	return nil
}

// ask sends one request to the portal.
func (a *asking) ask(ctx context.Context, token, method, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(a.url, "/")+portal.Prefix+path, nil)
	if err != nil {
		return fmt.Errorf("--url and --provider make no address: %w", err)
	}
	if token == "" {
		return fmt.Errorf("%s is not set: put the API token of an admin of the portal into it", tokenVariable)
	}
	r.Header.Set("Authorization", token)
	answer, err := a.client.Do(r)
	if err != nil {
		return fmt.Errorf("the portal does not answer: %w", err)
	}
	defer func() { _ = answer.Body.Close() }() // the body has been read
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxDrift))
	if err != nil {
		return fmt.Errorf("the portal does not answer: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		var said struct {
			Errors []string `json:"errors"`
		}
		_ = json.Unmarshal(body, &said) // without a message, the status is enough
		return fmt.Errorf("the portal answers %d: %s", answer.StatusCode, cmp.Or(strings.Join(said.Errors, "; "), http.StatusText(answer.StatusCode)))
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s is no portal: its answer cannot be read", a.url)
	}
	return nil
}

// print prints the differences.
func (d *drifting) print(out io.Writer, found []providers.Drift) error {
	if d.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(found)
	}
	for _, f := range found {
		if len(f.Differences)+len(f.Problems) == 0 {
			fmt.Fprintf(out, "%q: in step\n", f.Provider)
			continue
		}
		fmt.Fprintf(out, "%q: %d %s, %d %s\n", f.Provider, len(f.Differences), plural(len(f.Differences), "difference"), len(f.Problems), plural(len(f.Problems), "problem"))
		for _, x := range f.Differences {
			at := ""
			if x.Field != "" {
				at = " in " + x.Field + " (" + strings.Join(x.Members, ", ") + ")"
			}
			fmt.Fprintf(out, "  %s %q, policy %q: %s%s; %s\n", x.Kind, x.Name, x.PolicyID, x.Drift, at, x.Cause)
		}
		for _, p := range f.Problems {
			fmt.Fprintf(out, "  problem: %s\n", p.Message)
		}
	}
	return nil
}

// ended is an error with an exit code of its own.
type ended struct {
	code int
	error
}
