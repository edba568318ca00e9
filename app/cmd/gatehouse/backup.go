package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app/serve"
)

func (c *cli) backup() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the store into a new file",
		Long: `Copies the store into a file; services may run meanwhile. The file appears only when it
is complete and verified: its structure is valid, and its number of rows and its last
revision are those of the snapshot that was copied.

All stores have the same backup format, so "restore" can also move data from SQLite to
PostgreSQL and back. The data is encrypted as in the store. Keep a copy of the
encryption key as well (encryption_keys, or the key file gatehouse.key in home_dir), in
a different place: without the key the backup cannot be used.`,
		Example: "  gatehouse backup gatehouse-$(date +%F).db",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, log, err := c.settings()
			if err != nil {
				return err
			}
			made, err := serve.Backup(cmd.Context(), s, log, args[0])
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%s is there already: name a new file", args[0])
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.out, "%s: %d records, revision %d\n", args[0], made.Records, made.Revision)
			return err
		},
	}
}

func (c *cli) restore() *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Replace the store with a backup",
		Long: `Checks a backup, upgrades it to this version and replaces the configured store with
it. Stop all services first. A store with data is replaced only with --replace. An
existing SQLite file is kept under another name.

The encryption key must be the one of the service from which the backup was made.`,
		Example: "  gatehouse restore gatehouse-2026-01-31.db --replace",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, log, err := c.settings()
			if err != nil {
				return err
			}
			done, err := serve.Restore(cmd.Context(), s, log, args[0], replace)
			if errors.Is(err, serve.ErrNotEmpty) {
				return fmt.Errorf("%w: say --replace if what it holds may go", err)
			}
			if err != nil {
				return err
			}
			if done.Kept != "" {
				fmt.Fprintln(c.out, "what was there is now", done.Kept)
			}
			_, err = fmt.Fprintf(c.out, "restored: %d records, revision %d\n", done.Records, done.Revision)
			return err
		},
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "replace a store that has data")
	return cmd
}
