package app_test

import (
	"time"

	fetching "github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/remote"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
)

// noGateway is a service whose only gateway takes no connections.
func noGateway() app.Option {
	return app.WithGatewayControl(remote.New(fetching.New(fetching.Config{}), remote.Config{URLs: []string{"http://127.0.0.1:1"}, Secret: "s", OpenFor: time.Hour, Now: apptest.Clock()}).Control())
}
