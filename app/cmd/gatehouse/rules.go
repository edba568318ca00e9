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
		Long: `Runs the tests in a folder: rules named test_… in files named …_test.rego. The only
other .rego file is the rule set; without such a file the default rules are tested. No
store and no service are needed.

The rules have the same functions and limits as in the service. A test defines the
responses of the service:

  test_owners_stay if {
      rules.deny["The owners stay"]
          with input as {"user": {"id": "u"}, "request": {"method": "PUT", "path": "/api/apis/1", "body": {}}}
          with TykAPIGet as {"user_owners": ["u"]}
  }

The command prints failed tests with the output of their print(…) calls, and then the
number of evaluated lines. It exits with 1 if a test fails, if there is no test, or if the
coverage is below --cover. To try rules with a request to a running service, use
POST /api/org/opa/evaluate.`,
		Example: "  gatehouse rules test ./rules\n  gatehouse rules test ./rules --cover 90 --run 'owners|tags' --verbose",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t.Folder = args[0]
			return serve.TestRules(cmd.Context(), t, c.out)
		},
	}
	flags := test.Flags()
	flags.Float64Var(&t.Cover, "cover", 0, "minimum test coverage in per cent")
	flags.StringVar(&t.Run, "run", "", "regular expression that selects tests by name (default: all)")
	flags.BoolVarP(&t.Verbose, "verbose", "v", false, "print passed tests as well")
	cmd := &cobra.Command{Use: "rules", Short: "Test Rego rules", Args: cobra.NoArgs}
	cmd.AddCommand(test)
	return cmd
}
