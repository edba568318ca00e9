package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"time"

	containerapi "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// An available engine answers at once; pulling an image of 100 MB may take minutes.
const (
	engineLimit = 2 * time.Second
	pullLimit   = 5 * time.Minute
)

// reaperVariable, when true, keeps testcontainers from starting a container that removes others.
const reaperVariable = "TESTCONTAINERS_RYUK_DISABLED"

// container is a server in a container.
type container struct {
	engine *testcontainers.DockerClient
	create func(context.Context) (testcontainers.Container, error)
	ctr    testcontainers.Container
}

// newContainer prepares a container; it fails when no engine answers or the image is not
// available.
func newContainer(svc *service, port int, secret string) (*container, error) {
	tclog.SetDefault(tclog.NewNoopLogger())
	image := svc.image()
	if _, set := os.LookupEnv(reaperVariable); isStandIn(image) && !set {
		// With stand-in images nothing can be pulled, so the reaper's image cannot be pulled
		// either.
		if err := os.Setenv(reaperVariable, "true"); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), engineLimit)
	defer cancel()
	engine, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return nil, fmt.Errorf("the container engine does not answer: %w", err)
	}
	if _, err := engine.ImageInspect(ctx, image); err != nil {
		if err := pull(engine, image); err != nil {
			return nil, fmt.Errorf("image %s is not present and cannot be pulled: %w", image, err)
		}
	}
	address := publish(svc.port, port)
	return &container{engine: engine, create: func(ctx context.Context) (testcontainers.Container, error) {
		return svc.container(ctx, image, secret, address)
	}}, nil
}

// publish binds a port of the container to one of loopback, the same at every start.
func publish(inside string, outside int) testcontainers.ContainerCustomizer {
	return testcontainers.WithHostConfigModifier(func(c *containerapi.HostConfig) {
		c.PortBindings = network.PortMap{network.MustParsePort(inside): {
			{HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1}), HostPort: strconv.Itoa(outside)},
		}}
	})
}

func pull(engine *testcontainers.DockerClient, image string) error {
	ctx, cancel := context.WithTimeout(context.Background(), pullLimit)
	defer cancel()
	progress, err := engine.ImagePull(ctx, image, client.ImagePullOptions{})
	if err != nil {
		return err
	}
	return errors.Join(progress.Wait(ctx), progress.Close())
}

func (c *container) start(ctx context.Context, probe func(context.Context) error) (err error) {
	if c.ctr == nil {
		c.ctr, err = c.create(ctx)
	} else {
		err = c.ctr.Start(ctx)
	}
	if err != nil {
		return err
	}
	return await(ctx, probe, func(ctx context.Context) error {
		state, err := c.ctr.State(ctx)
		if err == nil && !state.Running {
			err = fmt.Errorf("its container ended with code %d", state.ExitCode)
		}
		return err
	})
}

// kill sends SIGKILL; stopping would first send the signal for a graceful shutdown.
func (c *container) kill(ctx context.Context) error {
	_, err := c.engine.ContainerKill(ctx, c.ctr.GetContainerID(), client.ContainerKillOptions{})
	return err
}

func (c *container) remove(ctx context.Context) (string, error) {
	if c.ctr == nil {
		return "", nil
	}
	var kept tail
	logs, err := c.ctr.Logs(ctx)
	if err == nil {
		_, _ = io.Copy(&kept, logs)
		err = logs.Close()
	}
	return kept.String(), errors.Join(err, testcontainers.TerminateContainer(c.ctr, testcontainers.StopContext(ctx), testcontainers.StopTimeout(0)))
}
