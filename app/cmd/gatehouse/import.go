package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/serve"
	"github.com/gatehouse-io/gatehouse/app/transfer"
)

// importing is one import by command.
type importing struct {
	cli    *cli
	org    string
	dryRun bool
	yes    bool
}

// importCommand imports a folder directly into the store: no service needs to run, and
// a running one sees it.
func (c *cli) importCommand() *cobra.Command {
	i := importing{cli: c}
	cmd := &cobra.Command{
		Use:   "import DIR",
		Short: "Import a folder of API definitions, policies and identity providers",
		Long: `Reads all JSON files in a folder and its subfolders, checks them, shows what would
change, and then stores everything. If any file has an error, nothing is stored.

The content of a file determines its kind; its folder does not matter:
  API definitions      in the format of gateways (apps/orders.json)
  OpenAPI documents    with x-tyk-api-gateway; the definition to which a document
                       belongs is found by the API ID or by the file name
                       (orders-oas.json, orders-mcp.json)
  wrappers             {"api_definition": …, "oas": …}, and lists of them {"apis": […]}
  policies             policies.json (policy by id), lists {"Data": […]}, single ones
  identity providers   single ones, and lists {"client_idps": […]}

Existing resources with the same identifiers are updated, and equal ones do not change,
so the import can be repeated. org_id is set to the target organisation. The service may
run meanwhile, on the same machine or, with PostgreSQL, on others: it notices the changes
and announces them to gateways once. If no service runs, gateways get the announcement
when one starts.`,
		Example: "  gatehouse import ./tyk-gateway --dry-run\n  gatehouse import ./tyk-gateway\n  gatehouse import ./tyk-gateway --org 5f1a0c5d8e3b2a1f00000001 --yes",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return i.run(cmd.Context(), args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&i.org, "org", "", "organisation to import into (default: the only existing one)")
	flags.BoolVar(&i.dryRun, "dry-run", false, "check everything, show what would change, and store nothing")
	flags.BoolVar(&i.yes, "yes", false, "do not ask before storing; without a terminal the command never asks")
	return cmd
}

func (i importing) run(ctx context.Context, dir string) (err error) {
	s, log, err := i.cli.settings()
	if err != nil {
		return err
	}
	if s.Storage.Type == config.Memory {
		return errors.New("storage.main.type is memory: nothing imported now would be there later")
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() { // opening a pipe would wait for its writer
		return fmt.Errorf("%s is no folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	b, problems, err := transfer.Read(root.FS())
	if err = errors.Join(err, root.Close()); err != nil {
		return err
	}
	for _, p := range b.Ignored {
		fmt.Fprintln(i.cli.errOut, "left out:", p)
	}
	for _, p := range b.Notes {
		fmt.Fprintln(i.cli.errOut, "note:", p)
	}
	if b.Len() == 0 {
		if err := i.refuse(problems); err != nil {
			return err
		}
		return fmt.Errorf("there is nothing to import in %s", dir)
	}
	comp, err := serve.Beside(ctx, s, log, buildVersion())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, comp.Close()) }()
	if err := comp.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, comp.Stop(context.WithoutCancel(ctx))) }()
	return i.apply(ctx, comp.App, b, problems)
}

// apply shows what would change, and stores it if the user agrees. It reports problems
// with files together with problems in the content of other files.
func (i importing) apply(ctx context.Context, a *app.App, b transfer.Bundle, problems []transfer.Problem) error {
	org, err := a.Organisation(ctx, i.org)
	switch {
	case errors.Is(err, app.ErrOrganisations):
		return fmt.Errorf("%w: name one with --org, or make one with `gatehouse bootstrap --email you@example.com`", err)
	case err != nil:
		return fmt.Errorf("--org %s: %w", i.org, err)
	}
	plan, err := a.Import(ctx, org, b, true, i.progress("checking"))
	if err := i.refuse(append(problems, plan.Problems...)); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	i.print("would be", plan)
	if i.dryRun || plan.Writes() == 0 {
		_, err := fmt.Fprintln(i.cli.out, "nothing was stored")
		return err
	}
	if !i.yes && isatty.IsTerminal(os.Stdin.Fd()) { // a user can be asked
		fmt.Fprint(i.cli.errOut, "store this? [y/N] ")
		answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return errors.New("nothing was stored: not agreed to")
		}
	}
	done, err := a.Import(ctx, org, b, false, i.progress("storing"))
	if len(done.Problems) > 0 {
		return i.refuse(done.Problems)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(i.cli.out, "stored: %d created, %d changed in organisation %s\n",
		len(done.APIs.Created)+len(done.Policies.Created)+len(done.IDPs.Created),
		len(done.APIs.Changed)+len(done.Policies.Changed)+len(done.IDPs.Changed), org)
	return err
}

// refuse prints problems, and returns an error if there are any.
func (i importing) refuse(problems []transfer.Problem) error {
	for _, p := range problems {
		fmt.Fprintln(i.cli.errOut, "problem:", p)
	}
	if n := len(problems); n > 0 {
		return fmt.Errorf("nothing was stored: %d %s", n, plural(n, "problems"))
	}
	return nil
}

// print lists a plan.
func (i importing) print(verb string, r transfer.Report) {
	for _, k := range []struct {
		noun, nouns string
		of          transfer.Tally
	}{{"API", "APIs", r.APIs}, {"policy", "policies", r.Policies}, {"identity provider", "identity providers", r.IDPs}} {
		for _, change := range []struct {
			word  string
			names []string
		}{{"created", k.of.Created}, {"changed", k.of.Changed}} {
			for _, name := range change.names {
				fmt.Fprintf(i.cli.out, "%s %s: %s %s\n", verb, change.word, k.noun, name)
			}
		}
		if n := len(k.of.Unchanged); n > 0 {
			noun := k.nouns
			if n == 1 {
				noun = k.noun
			}
			fmt.Fprintf(i.cli.out, "unchanged: %d %s\n", n, noun)
		}
	}
}

// progressSteps is about how many lines of progress a large import prints.
const progressSteps = 20

// progress prints the progress of an import, in a bounded number of lines.
func (i importing) progress(verb string) transfer.Progress {
	return func(done, total int, name string) {
		every := max(1, total/progressSteps)
		if done%every == 0 || done == total {
			fmt.Fprintf(i.cli.errOut, "%s %d of %d: %s\n", verb, done, total, name)
		}
	}
}
