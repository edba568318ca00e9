package certificates

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

type uploadIn struct {
	Scope tenant.Scope
	File  operation.Attachment `body:""`
}

// Uploaded is the response to an upload.
type Uploaded struct {
	ID      string `json:"id"`
	Message string `json:"message"`
	Status  string `json:"status"`
}

// Upload stores a certificate.
func (s *Service) Upload(ctx context.Context, in uploadIn) (Uploaded, error) {
	if len(in.File.Content) == 0 {
		return Uploaded{}, fault.New(fault.Invalid, codeEmpty, "the file is empty").At("file")
	}
	org := in.Scope.Org()
	b, err := certificate.Parse(org, in.File.Content)
	if err != nil {
		return Uploaded{}, err
	}
	switch _, err := s.Gateways.Certificate(ctx, org, b.ID); {
	case err == nil:
		return Uploaded{}, taken(b.ID)
	case !errors.Is(err, gateway.ErrUnknown):
		return Uploaded{}, answered(err)
	}
	err = s.add.Run(ctx, in.Scope, subject(b.ID), &addition{b.ID, string(b.Text)})
	if errors.Is(err, gateway.ErrTaken) {
		return Uploaded{}, taken(b.ID)
	}
	if err != nil {
		return Uploaded{}, answered(err)
	}
	s.known.forget(org)
	return Uploaded{ID: b.ID, Message: "Certificate added", Status: "ok"}, nil
}

func taken(id string) error {
	return fault.New(fault.Conflict, codeTaken, "Certificate with %s ID already exists.", id)
}

// byID is the input of operations on one certificate.
type byID struct {
	Scope tenant.Scope
	Who   operation.Principal
	ID    string `path:"certId" doc:"ID of the certificate: the ID of the organisation followed by the SHA-256 of the DER encoding in hex."`
}

// Get returns the metadata of a certificate.
func (s *Service) Get(ctx context.Context, in byID) (certificate.Meta, error) {
	if err := own(in.Scope.Org(), in.ID); err != nil {
		return certificate.Meta{}, err
	}
	m, err := s.Gateways.Certificate(ctx, in.Scope.Org(), in.ID)
	return m.Shown(), answered(err)
}

// Status is the response of operations that gateways carry out.
type Status struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// Delete deletes a certificate, even if it is in use.
func (s *Service) Delete(ctx context.Context, in byID) (Status, error) {
	if _, err := s.Get(ctx, in); err != nil {
		return Status{}, err
	}
	err := s.drop.Run(ctx, in.Scope, subject(in.ID), &removal{in.ID})
	s.known.forget(in.Scope.Org())
	return Status{"ok", "removed"}, answered(err)
}
