package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app/serve"
)

func (c *cli) check() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Look through the store for damage",
		Long: `Reads all that is stored: with SQLite the structure of the file, then every record
and every row of the change log. Each thing that is wrong is a line, and the exit
code is 1 when there is any. Nothing is changed, and the service may run meanwhile.

It also asks the gateways whether they are there, and says whether the collector has met
another program, a pump, at the lists of the gateways in the last ten minutes.

A record that is damaged is left out of lists and of what gateways load; delete it
by its ordinary DELETE, or restore a backup. A file that is damaged as a whole
needs a backup.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, log, err := c.settings()
			if err != nil {
				return err
			}
			found, err := serve.Check(cmd.Context(), s, log, buildVersion(), c.out)
			if err != nil {
				return err
			}
			if found.Damaged > 0 {
				return fmt.Errorf("there is damage: %d %s", found.Damaged, plural(found.Damaged, "finding"))
			}
			_, err = fmt.Fprintf(c.out, "all is well: %d records, %d rows of the change log\n", found.Records, found.Commits)
			return err
		},
	}
}
