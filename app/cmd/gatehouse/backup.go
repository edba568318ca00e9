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
		Short: "Copy everything that is stored into a new file",
		Long: `Copies the store into a file, while services run. The file is there only once it is
complete and has been read back: its structure is checked, and it holds as many rows
and the same last revision as the snapshot it was made from.

The file is of the same kind whatever the store is, so "restore" also moves data from
SQLite to PostgreSQL and back. What it holds is encrypted as in
the store. Keep a copy of the encryption key too (encryption_keys, or the key file
gatehouse.key in home_dir), but in another place: without the key the backup is worthless.`,
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
		Short: "Put a backup in the place of the store",
		Long: `Checks a backup, brings it up to this version and puts it in the place of the
configured store. Stop all services first. A store that holds something is replaced
only with --replace; a SQLite file that was there is kept beside, under another name.

The encryption key has to be the one that the backup was made with.`,
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
	cmd.Flags().BoolVar(&replace, "replace", false, "replace what the store holds")
	return cmd
}
