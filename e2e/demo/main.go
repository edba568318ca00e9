// Command demo runs a portal and a dashboard in memory, with example products, people and
// traffic, and prints the addresses to open. All data is lost when it ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/serve"
)

// Logins of the example users.
const (
	admin    = "admin@example.com"
	grace    = "grace@example.com"
	password = "demo-password"
	key      = "dddddddddddddddddddddddddddddddd"
)

func main() {
	dashboard := flag.Int("dashboard", 3000, "`port` of the dashboard and its console")
	portal := flag.Int("portal", 3001, "`port` of the portal")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *dashboard, *portal); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dashboard, portal int) (err error) {
	dir, err := os.MkdirTemp("", "gatehouse-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := settings(dir, dashboard, portal)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready, done := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		done <- serve.Run(ctx, s, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})), "demo", func(net.Addr) { ready <- struct{}{} })
	}()
	select {
	case err := <-done:
		return err
	case <-ready:
	}
	d := demo{dashboard: fmt.Sprintf("http://127.0.0.1:%d", dashboard), portal: fmt.Sprintf("http://127.0.0.1:%d", portal)}
	if err := d.fill(ctx, filepath.Join(dir, "traffic.db")); err != nil {
		if ctx.Err() != nil { // after an interrupt, errors of interrupted work are not shown
			err = ctx.Err()
		}
		cancel()
		return errors.Join(err, <-done)
	}
	fmt.Printf(`
Portal    %s/                 %s or %s
Console   %s/                 %s
Password  %s

Everything is in memory, and gone when this ends: Ctrl-C.
`, d.portal, grace, admin, d.dashboard, admin, password)
	return <-done
}

func settings(dir string, dashboard, portal int) (config.Settings, error) {
	traffic := filepath.Join(dir, "traffic.db")
	s, report := config.Load(nil, "", []string{
		"SVC_DB_STORAGE_MAIN_TYPE=memory", "SVC_DB_HOMEDIR=" + dir, "SVC_DB_LISTENADDRESS=127.0.0.1", "SVC_DB_LISTENPORT=" + strconv.Itoa(dashboard), "SVC_DB_SHUTDOWN_GRACEPERIOD=0s",
		"SVC_DB_NODESECRET=demo-node-secret", "SVC_DB_ADMINSECRET=demo-admin-secret", "SVC_DB_NOTIFYONCHANGE=false", "SVC_DB_PORTAL_SERVE=own_port",
		"SVC_DB_STORAGE_ANALYTICS_TYPE=sqlite", "SVC_DB_STORAGE_ANALYTICS_CONNECTIONSTRING=" + traffic, "SVC_DB_STORAGE_LOGS_TYPE=sqlite", "SVC_DB_STORAGE_LOGS_CONNECTIONSTRING=" + traffic,
		"SVC_DB_BOOTSTRAP_EMAIL=" + admin, "SVC_DB_BOOTSTRAP_PASSWORD=" + password, "SVC_DB_BOOTSTRAP_ACCESSKEY=" + key, "SVC_DB_BOOTSTRAP_FIRSTNAME=Ada",
	}, config.Options{})
	more := config.LoadPortal(&s, nil, "", []string{"PORTAL_HOSTPORT=" + strconv.Itoa(portal), "PORTAL_REFRESHINTERVAL=60"})
	return s, errors.Join(report.Err(), more.Err())
}
