// Package health answers probes with the state of the service and of its dependencies
// (docs/wire/health.md#probes).
package health

import (
	"context"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Status is the state of a component, or of the whole service.
type Status string

// The statuses, from best to worst.
const (
	Pass Status = "pass"
	Warn Status = "warn" // degraded, but serving
	Fail Status = "fail"
)

// Check examines one component. The error's text is shown to every caller, so
// it names no address and no secret.
type Check struct {
	Name string // "store"
	Type string // "datastore" or "system"
	Run  func(ctx context.Context) (Status, error)
}

// Service answers probes.
type Service struct {
	Checks  []Check
	Now     system.Clock
	Version string
	Path    string // path of the readiness probe: "/health"
	// Stopping, if set, reports that the service will stop soon: load balancers should
	// send requests elsewhere.
	Stopping func() bool
}

// Report is the response of a probe.
type Report struct {
	Status      Status               `json:"status"`
	Version     string               `json:"version"`
	Description string               `json:"description"`
	Details     map[string]Component `json:"details"`
}

// Component is the state of one component.
type Component struct {
	Status Status    `json:"status"`
	Type   string    `json:"componentType"`
	Output string    `json:"output,omitempty"` // the error
	Time   time.Time `json:"time"`
}

// Operations lists the probes. /hello always responds with 200; the readiness probe
// responds with 503 when the service should get no requests.
func (s *Service) Operations() []operation.Operation {
	example := Report{Status: Pass, Version: "v1.0.0", Description: "Gatehouse", Details: map[string]Component{"store": {Status: Pass, Type: "datastore"}}}
	ok := map[string]string{"Status": "OK"}
	rows := []operation.Row{
		operation.GET("front", "/", "Show that the service runs", s.Front, operation.Public(), operation.Example(nil, ok),
			operation.Notes("Programs can poll this path until the service responds. Browsers get the console.")),
		operation.GET("hello", "/hello", "Show the health of the service", s.Hello, operation.Public(), operation.Example(nil, example)),
	}
	if s.Path != "/hello" { // otherwise one probe has both functions
		rows = append(rows, operation.GET("ready", s.Path, "Show whether the service is ready for requests", s.Ready, operation.Public(), operation.Faulting("health.fail"),
			operation.Example(nil, example)))
	}
	probes := operation.Group{Surface: operation.Probe, Name: "health", Tag: "Health"}.Rows(append(rows,
		operation.POST("license", "/license", "Accept a licence key and ignore it", s.License, operation.Public(),
			operation.Notes("The service needs no licence. Bootstrap scripts of older products send a licence key first."), operation.Example(nil, ok)),
	)...)
	return append(probes, operation.Group{Surface: operation.Admin, Name: "admin", Path: "/admin", Tag: "Health"}.Rows(
		operation.GET("hello", "/hello", "Show the health of the service to the super-admin", s.Hello, operation.Example(nil, example)),
		operation.POST("license", "/license", "Accept a licence key from the super-admin and ignore it", s.License,
			operation.Notes("The service needs no licence. Some bootstrap scripts send a licence key here."), operation.Example(nil, ok)),
		operation.GET("reload", "/system/reload", "Accept a request to reload the addresses of the dashboard", s.Reload, operation.Example(nil, Reloaded{"ok"}),
			operation.Notes("Bootstrap scripts send this after they set a domain. The service reads organisations with each request, so it has nothing to reload. Gateways get no announcement.")))...)
}

// checkTimeout bounds the check of one component.
const checkTimeout = 2 * time.Second

// Hello reports on every component.
func (s *Service) Hello(ctx context.Context, _ struct{}) (Report, error) {
	r := Report{Status: Pass, Version: s.Version, Description: "Gatehouse", Details: map[string]Component{}}
	for _, c := range s.Checks {
		running, cancel := context.WithTimeout(ctx, checkTimeout)
		status, err := c.Run(running)
		cancel()
		d := Component{Status: status, Type: c.Type, Time: s.Now()}
		if err != nil {
			d.Output = err.Error()
		}
		r.Details[c.Name] = d
		if status == Fail || status == Warn && r.Status == Pass { // the worst status counts
			r.Status = status
		}
	}
	return r, nil
}

// Ready is Hello, or an Unavailable fault that names the components that fail.
func (s *Service) Ready(ctx context.Context, in struct{}) (Report, error) {
	if s.Stopping != nil && s.Stopping() {
		return Report{}, fault.New(fault.Unavailable, "health.fail", "not ready: the service is about to stop")
	}
	r, err := s.Hello(ctx, in)
	if err != nil || r.Status != Fail {
		return r, err
	}
	var failing []string
	for _, c := range s.Checks { // in a fixed order, so that the same failure has the same text
		if d := r.Details[c.Name]; d.Status == Fail {
			failing = append(failing, c.Name+": "+d.Output)
		}
	}
	return r, fault.New(fault.Unavailable, "health.fail", "not ready: %s", strings.Join(failing, "; "))
}

// Front responds at the root, whatever the state of the service: clients wait for it
// before they begin.
func (s *Service) Front(context.Context, struct{}) (Accepted, error) { return Accepted{"OK"}, nil }

// Accepted says that a request was accepted.
type Accepted struct{ Status string }

// Reloaded is the response to a request to reload addresses.
type Reloaded struct {
	Status string `json:"status"`
}

// Reload does nothing, because no address is cached.
func (s *Service) Reload(context.Context, struct{}) (Reloaded, error) { return Reloaded{"ok"}, nil }

// License accepts every licence.
func (s *Service) License(context.Context, struct{}) (Accepted, error) { return Accepted{"OK"}, nil }
