package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app/serve"
)

func (c *cli) check() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check the store for damage",
		Long: `Reads the whole store: with SQLite the structure of the file, then every record and
every row of the change log. The command prints a line for each problem and exits with 1
if there is any. Nothing is changed, and the service may run meanwhile.

It also checks that the gateways respond, and that no other program (a pump) has taken
records from the lists of the gateways in the last ten minutes.

A damaged record is left out of lists and of the feeds of gateways. Delete it with its
ordinary DELETE operation, or restore a backup. If the whole file is damaged, restore
a backup.`,
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
