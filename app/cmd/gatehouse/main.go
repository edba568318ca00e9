// Command gatehouse is the open control plane for API gateways that speak the
// Tyk protocol.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // days may be in any time zone, also on systems without time zone data

	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/serve"
)

// version is set by the build.
var version = ""

// The context of a command ends with the first signal to stop. A second one ends the
// process at once. The handler is removed before the context ends, because a client
// that notices the stop may send the second signal right then.
func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	child := serve.Supervised() // read now, because the service unsets the variable when it inherits its sockets
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-signals
		if !child { // the supervisor handles the second signal; a process manager may send the first one to both
			signal.Stop(signals)
		}
		cancel()
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// outletTime is how long a command that ends waits for its log to be written.
const outletTime = time.Second

// run runs one command and returns the exit code: 0, 1 for a failure, 2 for settings
// that cannot work, 3 for drift. A supervisor returns the exit code of the service.
func run(ctx context.Context, args []string, out, stderr io.Writer) int {
	errOut := serve.NewOutlet(stderr)
	defer errOut.Close(outletTime)
	told := &teller{w: out}
	root := command(told, errOut)
	root.SetArgs(dashed(args))
	root.SetOut(told)
	root.SetErr(errOut)
	err := told.complete(root.ExecuteContext(ctx))
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*serve.Ended](err); ok {
		return e.Code
	}
	if _, ok := errors.AsType[*settingsError](err); ok {
		fmt.Fprintln(errOut, "gatehouse:", err) // one line per problem
		return 2
	}
	var lines []string // libraries return errors with several lines; they are joined, without repetitions
	for line := range strings.Lines(err.Error()) {
		lines = append(lines, strings.TrimSpace(line))
	}
	fmt.Fprintln(errOut, "gatehouse:", strings.Join(slices.Compact(lines), " "))
	if e, ok := errors.AsType[*ended](err); ok {
		return e.code
	}
	return 1
}

// settingsError is an error in the settings.
type settingsError struct{ error }

// cli has the state that all commands share.
type cli struct {
	out, errOut io.Writer
	conf        string
	debug       bool
	portal      bool // serve only the portal
}

func command(out, errOut io.Writer) *cobra.Command {
	c := &cli{out: out, errOut: errOut}
	root := &cobra.Command{
		Use:   "gatehouse",
		Short: "The open control plane for API gateways that speak the Tyk protocol",
		Long: `Gatehouse stores the configuration of your API gateways, manages users and their
permissions, and announces changes to the gateways.

Start here:
  gatehouse bootstrap --email you@example.com   the first organisation and its admin
  gatehouse serve                               the service, on port 3000

Settings come from a file (--conf, JSON or YAML) and from environment variables, for
example SVC_DB_LISTENPORT=3000. "gatehouse config check" shows the settings in effect.`,
		SilenceUsage: true, SilenceErrors: true,
	}
	root.PersistentFlags().StringVar(&c.conf, "conf", "", "settings file, JSON or YAML (default: only environment variables)")
	root.PersistentFlags().BoolVar(&c.debug, "debug", false, "log all messages, regardless of log_level")
	version := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(c.out, "gatehouse", buildVersion())
			return err
		},
	}
	root.AddCommand(c.serve(), c.portalCommand(), c.bootstrap(), c.importCommand(), c.migrate(), c.check(), c.rules(), c.backup(), c.restore(), c.keys(), c.audit(), c.config(), version)
	root.CompletionOptions.DisableDefaultCmd = true
	explain(root)
	return root
}

// settings reads the configuration and logs its warnings. It returns an error if there
// are problems.
func (c *cli) settings() (config.Settings, *slog.Logger, error) {
	s, report := config.Read(c.conf, config.Options{Debug: c.debug, Portal: c.portal})
	log := serve.NewLogger(c.errOut, s.Log)
	slog.SetDefault(log)
	for _, w := range report.Warnings {
		log.Warn(w)
	}
	if err := report.Err(); err != nil {
		return s, log, &settingsError{fmt.Errorf("%w\n(`gatehouse config check` shows the settings in effect)", err)}
	}
	return s, log, nil
}

// service runs the service. If the reader of its log or its terminal goes away, the
// service must not die with requests in progress. So it ignores SIGPIPE. When its
// terminal is closed (SIGHUP), it stops as on SIGTERM, unless it was started with
// nohup, or by a supervisor, which handles that signal.
func service(ctx context.Context, s config.Settings, log *slog.Logger) error {
	signal.Ignore(syscall.SIGPIPE)
	switch {
	case serve.Supervised():
		signal.Ignore(syscall.SIGHUP)
	case !signal.Ignored(syscall.SIGHUP):
		closed, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
		ctx = closed
	}
	return serve.Run(ctx, s, log, buildVersion(), nil)
}

func (c *cli) serve() *cobra.Command {
	var supervise bool
	var first portalFirst
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service until a signal stops it",
		Long: `Runs the service: the management API under /api, the admin API under /admin,
the calls of gateways under /register and /system, probes at /hello and /health.

SIGTERM, Ctrl-C or closing the terminal stops the service: it refuses changes, serves
gateways for shutdown.grace_period, finishes its running requests and exits. A second
signal ends it at once.

With --supervise a small process keeps the socket and runs the service as its child. A
crashed child is restarted, and meanwhile no connection is refused. SIGHUP replaces the
child. Sockets passed by systemd are used instead of the configured addresses.

With analytics.collect the service also stores the traffic records of gateways, which
otherwise needs a pump: set SVC_DB_ANALYTICS_COLLECT=true and the Redis of the gateways.

With --bootstrap the first admin of the developer portal is created before the portal is
served, as with "gatehouse portal"; portal.serve must not be off.`,
		Example: "  SVC_DB_ADMINSECRET=s3cret SVC_DB_NODESECRET=n0de gatehouse serve\n  gatehouse serve --conf gatehouse.yaml --supervise",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, log, err := c.settings()
			if err != nil {
				return err
			}
			if err := first.run(cmd.Context(), c, s, log); err != nil {
				return err
			}
			if !supervise || serve.Supervised() {
				return service(cmd.Context(), s, log)
			}
			var flags []string // flags for the child about the settings
			if c.conf != "" {
				flags = append(flags, "--conf", c.conf)
			}
			if c.debug {
				flags = append(flags, "--debug")
			}
			signal.Ignore(syscall.SIGPIPE) // as in service
			return serve.Supervise(cmd.Context(), s, log, flags...)
		},
	}
	first.flags(cmd)
	cmd.Flags().BoolVar(&supervise, "supervise", false, "run the service as a child process that is restarted after a crash")
	return cmd
}

// buildVersion returns the version that the build set, or else the one of the module.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "dev"
}
