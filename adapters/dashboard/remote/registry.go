package remote

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// wire is a dashboard.Wire.
func (c *Client) wire(ctx context.Context, r dashboard.Request) (dashboard.Answer, error) {
	at := r.Path
	if r.Param != "" {
		at = strings.ReplaceAll(at, "{"+r.Param+"}", url.PathEscape(r.Record))
	}
	if r.Method == http.MethodGet {
		a, err := c.read(ctx, at)
		return dashboard.Answer{Body: a.Body, Tag: header(a, "Etag")}, err
	}
	a, err := c.call(ctx, r.Method, at, r.Tag, r.Body)
	return dashboard.Answer{Body: a.Body}, err
}
