package remote

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// wire sends an operation for dashboard.Entries over HTTP.
func (c *Client) wire(ctx context.Context, r dashboard.Request) (dashboard.Answer, error) {
	at := r.Path
	if r.Param != "" {
		at = strings.ReplaceAll(at, "{"+r.Param+"}", url.PathEscape(r.Record))
	}
	for name, value := range r.Params {
		at = strings.ReplaceAll(at, "{"+name+"}", url.PathEscape(value))
	}
	if len(r.Query) > 0 {
		at += "?" + url.Values(r.Query).Encode()
	}
	if r.File != nil {
		var out bytes.Buffer
		form := multipart.NewWriter(&out)
		part, err := form.CreateFormFile("file", "file")
		if err == nil {
			_, err = part.Write(r.File)
		}
		if err == nil {
			err = form.Close()
		}
		if err != nil {
			return dashboard.Answer{}, err
		}
		a, err := c.send(ctx, r.Method, at, r.Tag, form.FormDataContentType(), out.Bytes())
		return dashboard.Answer{Body: a.Body}, err
	}
	if r.Method == http.MethodGet {
		a, err := c.read(ctx, at)
		return dashboard.Answer{Body: a.Body, Tag: header(a, "Etag")}, err
	}
	a, err := c.call(ctx, r.Method, at, r.Tag, r.Body)
	if r.Waits && a.Status == http.StatusConflict { // the caller handles this as if the dashboard were away: it tries again later
		err = fmt.Errorf("%w: %d %s", dashboard.ErrUnreachable, a.Status, c.said(a.Body))
	}
	return dashboard.Answer{Body: a.Body}, err
}
