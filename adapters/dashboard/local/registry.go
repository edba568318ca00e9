package local

import (
	"bytes"
	"context"

	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// wire is a dashboard.Wire.
func (c *Client) wire(ctx context.Context, r dashboard.Request) (dashboard.Answer, error) {
	call := operation.Call{Body: r.Body, Header: precondition(r.Tag), Query: r.Query, Upload: operation.Upload{File: operation.Attachment{Content: r.File}}}
	if r.Param != "" {
		call.Path = map[string]string{r.Param: r.Record}
	}
	if r.Params != nil {
		call.Path = r.Params
	}
	text, out, err := c.read(ctx, r.Operation, call)
	a := dashboard.Answer{Body: text}
	if s, ok := out.(operation.Stream); ok {
		_, _, plain, _ := s.Stream()
		a.Body = bytes.Join(plain, nil)
	}
	if whole, ok := out.(operation.Rendition); ok {
		a.Body = whole.JSON
	}
	if e, ok := out.(interface{ EntityTag() string }); ok {
		a.Tag = e.EntityTag()
	}
	return a, err
}
