package http

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// maxParts is how many parts of a form are looked at: each costs a map of headers.
const maxParts = 100

// attach takes the only file out of a form. What is wrong with the form its row says.
func (x *exchange) attach(ctx context.Context, mediaType, boundary string) error {
	form := x.call.Body
	x.call.Body = nil // it is no JSON, for those who look at it
	if mediaType != formType || boundary == "" {
		x.call.Upload.Err = operation.NoForm()
		return nil
	}
	if err := x.load.Work(ctx, int64(len(form)), 0); err != nil {
		return err
	}
	x.call.Upload.File, x.call.Upload.Err = onlyFile(form, boundary)
	return nil
}

// onlyFile returns the file of a form. Parts that are no files say nothing.
func onlyFile(body []byte, boundary string) (file operation.Attachment, err error) {
	form, found := multipart.NewReader(bytes.NewReader(body), boundary), false
	for range maxParts {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF) && found:
			return file, nil
		case err != nil:
			return file, operation.NoForm()
		}
		if part.FormName() != filePart && part.FileName() == "" {
			continue
		}
		if found {
			return operation.Attachment{}, operation.ManyFiles()
		}
		if part.FormName() != filePart {
			return file, operation.NoForm()
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return file, operation.NoForm()
		}
		file, found = operation.Attachment{Name: part.FileName(), Content: content}, true
	}
	return operation.Attachment{}, operation.NoForm()
}
