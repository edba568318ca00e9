package apps

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// credentialNamed is a credential of an access request, as named in a path.
type credentialNamed struct {
	nested
	ID string `path:"credential_id" doc:"Number or CID of the credential."`
}

type credentialListing struct {
	nested
	portal.Page `params:""`
}

func (s *Service) credentialRows() []operation.Operation {
	return portal.Group("portal-app-credentials", "/apps/{app_id}/access-requests/{access_request_id}/credentials", "apps").Rows(
		operation.GET("list", "", "List the credentials of an access request", s.listCredentials, operation.Lists(operation.Item{Kind: credential.Kind, ID: "ID"}),
			operation.Example(nil, operation.Listing[Credential]{Items: []Credential{exampleCredential}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage})),
		operation.GET("get", "/{credential_id}", "Fetch a credential of an access request", s.getCredential, operation.Example(nil, exampleCredential)),
		operation.DELETE("delete", "/{credential_id}", "Delete a credential of an access request", s.deleteCredential, operation.Faulting(failing...),
			operation.Notes("It is revoked where it was made. The access request stays."), operation.Example(nil, portal.Status{Status: "ok"})),
		operation.PUT("rotate", "/{credential_id}/rotate", "Give a credential another value", s.rotateCredential, portal.Action(), portal.Unprocessable(),
			operation.Faulting(append([]string{credential.CodeState, issuers.CodeRotate, CodeIdle}, failing...)...),
			operation.Notes("Of keys; OAuth clients have none but the first. The new value opens the same, and its time begins anew; the old one stops working at once. A rotation that fails on its way goes on later."),
			operation.Example(nil, portal.Executed("Rotate"))),
		operation.GET("certificate", "/{credential_id}/certificate", "Fetch the certificate of a credential", s.getCertificate, operation.Example(nil, exampleCertificate)),
		operation.PUT("renew", "/{credential_id}/certificate", "Give a credential another certificate", s.renewCertificate, portal.Unprocessable(),
			operation.Faulting(append([]string{credential.CodeState, credential.CodeCertificate}, failing...)...),
			operation.Notes("Where clients come with a certificate that the developer brings. The new one opens the same; the one before is taken off the lists of APIs that no other credential needs it for."),
			operation.Example(map[string]any{"Certificate": "-----BEGIN CERTIFICATE-----…"}, exampleCertificate)),
		operation.DELETE("forget", "/{credential_id}/certificate", "Take the certificate from a credential", s.forgetCertificate, operation.Faulting(append([]string{credential.CodeState}, failing...)...),
			operation.Notes("The key stays, and opens nothing until the credential has a certificate again."), operation.Example(nil, portal.Status{Status: "ok"})),
	)
}

func (s *Service) listCredentials(ctx context.Context, in credentialListing) (out operation.Listing[Credential], err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		_, req, err := s.below(ctx, r, in.named, in.Request)
		if err != nil {
			return err
		}
		all, err := usedBy(ctx, r, req.ID)
		if err != nil {
			return err
		}
		out = portal.Excerpt(all, in.Page, func(c credential.Credential) (one Credential) {
			if err == nil {
				one, err = s.credential(c)
			}
			return one
		})
		return err
	})
	return out, err
}

func (s *Service) getCredential(ctx context.Context, in credentialNamed) (out Credential, err error) {
	c, err := s.stored(ctx, in)
	if err == nil {
		out, err = s.credential(c)
	}
	return out, err
}

// stored returns the credential in the path.
func (s *Service) stored(ctx context.Context, in credentialNamed) (c credential.Credential, err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		_, req, err := s.below(ctx, r, in.named, in.Request)
		if err != nil {
			return err
		}
		if c, err = portal.Find(ctx, r, Credentials, in.ID); err == nil && !slices.Contains(c.Requests(), req.ID) {
			err = Credentials.Absent()
		}
		return err
	})
	return c, err
}

// credentialEnding is a credential to delete.
type credentialEnding struct {
	credentialNamed
	insisting `params:""`
}

func (s *Service) deleteCredential(ctx context.Context, in credentialEnding) (portal.Status, error) {
	c, err := s.stored(ctx, in.credentialNamed)
	if err == nil {
		err = s.remove(ctx, in.Scope, removal{App: c.AppID, Credential: c.ID, Force: in.force()})
	}
	return portal.Status{Status: "ok"}, err
}

func (s *Service) rotateCredential(ctx context.Context, in credentialNamed) (portal.Done, error) {
	c, err := s.stored(ctx, in)
	if err == nil {
		err = s.Rotate(ctx, in.Scope, c.ID)
	}
	return portal.Executed("Rotate"), err
}
