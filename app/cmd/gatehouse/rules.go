package main

import (
	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app/serve"
)

func (c *cli) rules() *cobra.Command {
	var t serve.RuleTests
	test := &cobra.Command{
		Use:   "test DIR",
		Short: "Run unit tests of rules, with coverage",
		Long: `Runs the tests in a folder: rules called test_… in files called …_test.rego. The one
other .rego file is the rule set; without one the default rules are tested. Neither a
store nor a service is needed.

The rules have the functions and the bounds that they have in the service. A test says
what the service would answer:

  test_owners_stay if {
      rules.deny["The owners stay"]
          with input as {"user": {"id": "u"}, "request": {"method": "PUT", "path": "/api/apis/1", "body": {}}}
          with TykAPIGet as {"user_owners": ["u"]}
  }

Tests that fail are printed with what they said by print(…), then how many lines of
the rules were evaluated. The exit code is 1 when a test fails, when there is none, or
when less than --cover is covered. To try rules on a request of a running service, use
POST /api/org/opa/evaluate.`,
		Example: "  gatehouse rules test ./rules\n  gatehouse rules test ./rules --cover 90 --run 'owners|tags' --verbose",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t.Folder = args[0]
			return serve.TestRules(cmd.Context(), t, c.out)
		},
	}
	flags := test.Flags()
	flags.Float64Var(&t.Cover, "cover", 0, "per cent of the rules that tests must cover")
	flags.StringVar(&t.Run, "run", "", "expression for the names of the tests that run (default: all)")
	flags.BoolVarP(&t.Verbose, "verbose", "v", false, "name tests that pass, too")
	cmd := &cobra.Command{Use: "rules", Short: "Work on rules in Rego", Args: cobra.NoArgs}
	cmd.AddCommand(test)
	return cmd
}
