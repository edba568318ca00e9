package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// explain makes a command and its subcommands refuse wrong command lines with a hint.
// Without it, a group of commands shows its help for an unknown command, and ends with
// exit code 0.
func explain(c *cobra.Command) {
	c.SetFlagErrorFunc(refused)
	if c.HasSubCommands() && !c.Runnable() {
		c.Args, c.DisableFlagsInUseLine = cobra.NoArgs, true
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	fits := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		err := fits(c, args)
		switch {
		case err == nil:
			return nil
		case !c.HasSubCommands():
			return refused(c, err)
		}
		c.SuggestionsMinimumDistance = 2
		guess := "" // the command that was probably meant
		if like := c.SuggestionsFor(args[0]); len(like) > 0 {
			guess = fmt.Sprintf(" (did you mean `%s %s`?)", c.CommandPath(), like[0])
		}
		return fmt.Errorf("there is no command `%s %s`%s; `%s --help` lists the commands", c.CommandPath(), args[0], guess, c.CommandPath())
	}
	for _, sub := range c.Commands() {
		explain(sub)
	}
}

// refused returns the error for a wrong command line, with the usage of the command.
func refused(c *cobra.Command, err error) error {
	return fmt.Errorf("%w; usage: %s; `%s --help` says more", err, c.UseLine(), c.CommandPath())
}
