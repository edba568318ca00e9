package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// An engine that is there answers at once; an image of 100 MB may take minutes.
const (
	engineLimit = 2 * time.Second
	pullLimit   = 5 * time.Minute
)

type customizer = testcontainers.ContainerCustomizer

// container is a server in a container. The engine publishes another port at every start, so
// clients talk to a forwarder whose address stays.
type container struct {
	client  *testcontainers.DockerClient
	image   string
	port    string
	options []customizer
	front   *forwarder
	ctr     *testcontainers.DockerContainer
}

// newContainer prepares a container; it fails when no engine answers or the image cannot be had.
func newContainer(svc *service, port int, secret string) (*container, error) {
	image := svc.image()
	if err := settleEngine(image); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), engineLimit)
	defer cancel()
	client, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return nil, fmt.Errorf("the container engine does not answer: %w", err)
	}
	if _, err := client.ImageInspect(ctx, image); err != nil {
		if err := pull(client, image); err != nil {
			return nil, fmt.Errorf("image %s is not present and cannot be pulled: %w", image, err)
		}
	}
	return &container{
		client: client, image: image, port: svc.port,
		options: append(svc.container(image, secret), testcontainers.WithExposedPorts(svc.port)),
		front:   &forwarder{addr: loopback(port)},
	}, nil
}

// settleEngine sets what testcontainers reads from the environment, before its first use and only
// where the environment says nothing.
func settleEngine(image string) error {
	tclog.SetDefault(tclog.NewNoopLogger())
	var errs []error
	if isStandIn(image) {
		// Where stand-ins are used nothing can be pulled, so neither can the reaper's image.
		errs = append(errs, setDefault("TESTCONTAINERS_RYUK_DISABLED", "true"))
	}
	// testcontainers takes a machine with /.dockerenv for a container whose engine is outside. The
	// engine's own bridge proves that the engine publishes its ports on this very machine.
	if _, err := net.InterfaceByName("docker0"); err == nil {
		errs = append(errs, setDefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1"))
	}
	return errors.Join(errs...)
}

func setDefault(name, value string) error {
	if _, set := os.LookupEnv(name); set {
		return nil
	}
	return os.Setenv(name, value)
}

func pull(client *testcontainers.DockerClient, image string) error {
	ctx, cancel := context.WithTimeout(context.Background(), pullLimit)
	defer cancel()
	progress, err := plainly(ctx, client.ImagePull, image)
	if err != nil {
		return err
	}
	return errors.Join(progress.Wait(ctx), progress.Close())
}

// plainly calls a method of the engine's client without options.
func plainly[Options, Result any](
	ctx context.Context, method func(context.Context, string, Options) (Result, error), subject string,
) (Result, error) {
	var none Options
	return method(ctx, subject, none)
}

func (c *container) start(ctx context.Context, probe func(context.Context) error) error {
	if err := c.boot(ctx); err != nil {
		return err
	}
	target, err := c.ctr.PortEndpoint(ctx, c.port, "")
	if err != nil {
		return err
	}
	if err := c.front.open(target); err != nil {
		return err
	}
	return await(ctx, probe, c.ended)
}

func (c *container) boot(ctx context.Context) (err error) {
	if c.ctr != nil {
		return c.ctr.Start(ctx)
	}
	c.ctr, err = testcontainers.Run(ctx, c.image, c.options...)
	return err
}

func (c *container) ended(ctx context.Context) error {
	state, err := c.ctr.State(ctx)
	if err != nil {
		return err
	}
	if !state.Running {
		return fmt.Errorf("its container ended with code %d", state.ExitCode)
	}
	return nil
}

// kill sends SIGKILL; stopping would first send the signal for an orderly end.
func (c *container) kill(ctx context.Context) error {
	_, err := plainly(ctx, c.client.ContainerKill, c.ctr.GetContainerID())
	return errors.Join(err, c.front.shut())
}

func (c *container) remove(ctx context.Context) (string, error) {
	if c.ctr == nil {
		return "", nil
	}
	output := c.output(ctx)
	err := testcontainers.TerminateContainer(c.ctr, testcontainers.StopContext(ctx), testcontainers.StopTimeout(0))
	return output, errors.Join(err, c.front.shut())
}

func (c *container) output(ctx context.Context) string {
	logs, err := c.ctr.Logs(ctx)
	if err != nil {
		return err.Error()
	}
	defer logs.Close()
	var kept tail
	_, _ = io.Copy(&kept, logs)
	return kept.String()
}
