package scenarios

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// A failed first start ends the supervisor, with the message and the exit code of the service: the
// supervisor's own supervisor restarts it.
func TestSupervisedStartFails(t *testing.T) {
	env := onPostgres(t.TempDir(), "postgres://gatehouse:hidden@127.0.0.1:1/gatehouse").with(environment{"LISTENPORT": "0"})
	o := run(t, env, "serve", "--supervise")
	o.want(t, 1, "gatehouse: ", "postgres")
	if strings.Count(o.errOut, "gatehouse: ") != 1 || strings.Contains(o.errOut, "hidden") {
		t.Errorf("said:\n%s", o.errOut)
	}
	run(t, env.with(environment{"PAGESIZE": "-1"}), "serve", "--supervise").want(t, 2, "page_size")
}

// A child whose supervisor is killed stops as it would on SIGTERM.
func TestSupervisorKilled(t *testing.T) {
	s := serve(t, onSQLite(t.TempDir()), "--supervise")
	s.process.Kill()
	until(t, startLimit, "the end of the child", func() error { return answered(s.addr) })
}

// Process managers may send the stop signal to all processes of a service: the child gets it
// twice, and keeps its grace period.
func TestSignalToAll(t *testing.T) {
	s := serve(t, onSQLite(t.TempDir()).with(environment{"SHUTDOWN_GRACEPERIOD": "2s"}), "--supervise")
	s.process.Signal(t, syscall.SIGTERM)
	s.awaitLeaving(t)
	s.process.SignalChild(t, syscall.SIGTERM)
	s.process.Wait(t)
}

// TestUnfitSettings keeps the serving child when SIGHUP finds invalid settings.
func TestUnfitSettings(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "gatehouse.yaml")
	write := func(text string) {
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("page_size: 10")
	s := serve(t, onSQLite(t.TempDir()).with(environment{"LOGLEVEL": "info"}), "--supervise", "--conf", conf)
	said := func(text string) {
		until(t, startLimit, text, func() error {
			if !strings.Contains(s.process.Logs(), text) {
				return errors.New("it is not said")
			}
			return nil
		})
	}
	write("page_size: ten")
	s.process.Signal(t, syscall.SIGHUP)
	said("problem: page_size: expected a whole number")
	said("the service is not replaced")
	s.awaitReady(t)
	write("page_size: 11")
	s.process.Signal(t, syscall.SIGHUP)
	said("the service is started anew")
	s.awaitReady(t)
	s.process.Stop(t)
}

// TestProgramAway: the child dies while there is no program to start. The supervisor keeps trying,
// and connections wait.
func TestProgramAway(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gatehouse")
	text, err := os.ReadFile(harness.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	put := func() {
		if err := os.WriteFile(program, text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put()
	cmd, addr := begin(t, "exec "+program+" serve --supervise")
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	pids, err := harness.Children(cmd.Process.Pid)
	if err != nil || len(pids) != 1 {
		t.Fatalf("the service is %v: %v", pids, err)
	}
	if child, err := os.FindProcess(pids[0]); err != nil || child.Kill() != nil {
		t.Fatalf("the service %d cannot be killed: %v", pids[0], err)
	}
	get := func() error {
		resp, err := (&http.Client{Timeout: time.Second}).Get("http://" + addr + "/hello")
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	if err := get(); err == nil || answered(addr) == nil {
		t.Errorf("a connection does not wait: %v", err)
	}
	put()
	until(t, startLimit, "an answer", get)
	if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
		t.Error(err)
	}
}

// awaitLeaving waits until the service logs that it stops.
func (s *service) awaitLeaving(t *testing.T) {
	t.Helper()
	until(t, startLimit, "a probe that fails", func() error {
		if err := s.admin.call(t.Context(), http.MethodGet, "/health", nil, nil); statusOf(err) != http.StatusServiceUnavailable {
			return errors.New("the service does not stop")
		}
		return nil
	})
}

// A second signal ends the service at once, with and without a supervisor.
func TestSecondSignal(t *testing.T) {
	for name, flags := range map[string][]string{"alone": nil, "supervised": {"--supervise"}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, onSQLite(t.TempDir()).with(environment{"SHUTDOWN_GRACEPERIOD": "5m"}), flags...)
			s.process.Signal(t, syscall.SIGTERM)
			s.awaitLeaving(t)
			s.process.Signal(t, syscall.SIGTERM)
			until(t, startLimit, "the end", func() error { return answered(s.addr) })
		})
	}
}

// TestOutlived: the reader of the service's log ends while it serves, or its terminal is closed
// under nohup: requests are still carried out, and the service stops as usual.
func TestOutlived(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		signal  syscall.Signal
	}{
		"reader":            {"exec $0 serve", 0},
		"supervised reader": {"exec $0 serve --supervise", 0},
		"nohup":             {"trap '' HUP; exec $0 serve", syscall.SIGHUP},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, addr := begin(t, c.command)
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				res, err := http.Get("http://" + addr + "/api/apis") // each writes a line to the log
				if err != nil {
					t.Fatal(err)
				}
				if res.Body.Close(); res.StatusCode != http.StatusUnauthorized {
					t.Error(res.Status)
				}
			}
			if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTerminalCloses: then the service stops as on SIGTERM.
func TestTerminalCloses(t *testing.T) {
	cmd, _ := begin(t, "exec $0 serve")
	if err := errors.Join(cmd.Process.Signal(syscall.SIGHUP), cmd.Wait()); err != nil {
		t.Error(err)
	}
}

// begin starts the service by a shell command line, and returns its address when it serves. The
// reader of its log ends then.
func begin(t *testing.T, line string) (*exec.Cmd, string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	env := onSQLite(t.TempDir()).with(environment{"LISTENPORT": "0", "LOGLEVEL": "debug"})
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line, harness.Binary(t))
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append(env.list(), "PATH="+os.Getenv("PATH")), t.TempDir(), w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if _, rest, ok := strings.Cut(lines.Text(), "msg=serving address="); ok {
			addr, _, _ := strings.Cut(rest, " ")
			return cmd, addr
		}
	}
	t.Fatal("the service does not say that it serves")
	return nil, ""
}

// answered returns an error as long as connections are accepted.
func answered(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return nil
	}
	return errors.Join(errors.New("connections are taken"), conn.Close())
}

// The service uses sockets passed as systemd does: one for the service, possibly with TLS, and one
// for metrics.
func TestPassedSockets(t *testing.T) {
	for name, flags := range map[string]string{"alone": "", "supervised": " --supervise"} {
		t.Run(name, func(t *testing.T) {
			certificate, client := selfSigned(t)
			env := onSQLite(t.TempDir()).with(certificate).with(environment{"LISTENPORT": "1", "METRICS_LISTENADDRESS": "127.0.0.1:1"})
			cmd := exec.CommandContext(t.Context(), "sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=2 exec "+harness.Binary(t)+" serve"+flags)
			cmd.Env, cmd.Dir, cmd.Stderr = append(env.list(), "PATH="+os.Getenv("PATH")), t.TempDir(), t.Output()
			var addrs []string
			for range 2 {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				f, err := l.(*net.TCPListener).File()
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				defer l.Close()
				addrs, cmd.ExtraFiles = append(addrs, l.Addr().String()), append(cmd.ExtraFiles, f)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for _, url := range []string{"https://" + addrs[0] + "/health", "http://" + addrs[1] + "/metrics"} {
				res, err := client.Get(url) // waits in the socket's queue until the service accepts it
				if err != nil {
					t.Fatal(err)
				}
				if res.Body.Close(); res.StatusCode != http.StatusOK {
					t.Errorf("%s: %s", url, res.Status)
				}
			}
			if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
				t.Error(err)
			}
		})
	}
}

// selfSigned creates a certificate for the service and a client that trusts it.
func selfSigned(t *testing.T) (environment, *http.Client) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "both.pem")
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	client := &http.Client{Timeout: startLimit, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	t.Cleanup(client.CloseIdleConnections)
	return environment{"HTTPSERVEROPTIONS_USESSL": "true", "HTTPSERVEROPTIONS_SSLCERTIFICATES": file}, client
}
