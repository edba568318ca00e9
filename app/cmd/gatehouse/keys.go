package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/serve"
)

func (c *cli) keys() *cobra.Command {
	cmd := &cobra.Command{Use: "keys", Short: "Replace access keys after the loss of the encryption key"}
	var yes bool
	reset := &cobra.Command{
		Use:   "reset --yes",
		Short: "Give users new access keys after the encryption key was lost",
		Long: `Gives a new access key to every user whose key cannot be decrypted with a configured
encryption key, and prints a line for each: organisation, user, e-mail address and access
key. Other users keep their keys. A missing key file is created.

The old access keys cannot be used any more, so restore the encryption key instead if
there is a copy of it. Stop the service first.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !yes {
				return errors.New("this ends every access key that cannot be opened; say --yes if the encryption key is lost for good")
			}
			return c.resetKeys(cmd.Context())
		},
	}
	reset.Flags().BoolVar(&yes, "yes", false, "confirm that the encryption key is lost")
	cmd.AddCommand(reset)
	return cmd
}

func (c *cli) resetKeys(ctx context.Context) (err error) {
	s, log, err := c.settings()
	if err != nil {
		return err
	}
	if s.Storage.Type == config.Memory {
		return errors.New("storage.main.type is memory: there are no access keys to reset")
	}
	s.NotifyOnChange = false
	comp, err := serve.ComposeFor(ctx, s, log, buildVersion(), serve.Purpose{Lost: true, Stored: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, comp.Close()) }()
	if err := comp.Start(ctx); err != nil {
		return err
	}
	n := 0
	err = comp.ResetKeys(ctx, func(u identity.Renewed) error {
		if _, err := fmt.Fprintln(c.out, u.OrgID, u.UserID, u.Email, u.AccessKey); err != nil {
			return err
		}
		n++
		return nil
	})
	fmt.Fprintf(c.errOut, "users with a new access key: %d\n", n)
	return errors.Join(err, comp.Stop(context.WithoutCancel(ctx)))
}
