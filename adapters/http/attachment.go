package http

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// maxParts is how many parts of a form are read: each costs a map of headers.
const maxParts = 100

// attach reads the only file of a form into the call. Parts that are not files are ignored,
// unless the form has just one part, which may have any name. The row's style has the error
// texts for the form.
func (x *exchange) attach(ctx context.Context, mediaType, boundary string) error {
	form := x.call.Body
	x.call.Body = nil // the body is not JSON, which readers of Body expect
	if mediaType != formType || boundary == "" {
		x.call.Upload.Err = operation.NoForm()
		return nil
	}
	if err := x.load.Work(ctx, int64(len(form)), 0); err != nil {
		return err
	}
	files, others, err := parts(form, boundary)
	if x.row.spec.AnyPart && len(files) == 0 {
		files = others
	}
	switch {
	case err != nil || len(files) == 0:
		x.call.Upload.Err = operation.NoForm()
	case len(files) > 1:
		x.call.Upload.Err = operation.ManyFiles()
	case !x.row.spec.AnyPart && files[0].name != filePart:
		x.call.Upload.Err = operation.NoForm()
	default:
		x.call.Upload.File = files[0].Attachment
	}
	return nil
}

// part is a part of a form.
type part struct {
	name string
	operation.Attachment
}

// parts returns the files of a form, and its other parts.
func parts(body []byte, boundary string) (files, others []part, err error) {
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	for range maxParts {
		next, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return files, others, nil
		}
		if err != nil {
			return nil, nil, err
		}
		content, err := io.ReadAll(next)
		if err != nil {
			return nil, nil, err
		}
		p := part{next.FormName(), operation.Attachment{Name: next.FileName(), Content: content}}
		if p.name == filePart || p.Name != "" {
			files = append(files, p)
		} else {
			others = append(others, p)
		}
	}
	return nil, nil, operation.NoForm()
}
