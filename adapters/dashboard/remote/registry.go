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

// wire is a dashboard.Wire.
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
		form, kind, err := formOf(r.File)
		if err != nil {
			return dashboard.Answer{}, err
		}
		a, err := c.send(ctx, r.Method, at, r.Tag, kind, form)
		return dashboard.Answer{Body: a.Body}, err
	}
	if r.Method == http.MethodGet {
		a, err := c.read(ctx, at)
		return dashboard.Answer{Body: a.Body, Tag: header(a, "Etag")}, err
	}
	a, err := c.call(ctx, r.Method, at, r.Tag, r.Body)
	if r.Waits && a.Status == http.StatusConflict {
		err = fmt.Errorf("%w: %d %s", dashboard.ErrUnreachable, a.Status, c.said(a.Body))
	}
	return dashboard.Answer{Body: a.Body}, err
}

// formOf makes a form with one file.
func formOf(file []byte) (body []byte, kind string, err error) {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	part, err := w.CreateFormFile("file", "file")
	if err == nil {
		_, err = part.Write(file)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), w.FormDataContentType(), err
}
