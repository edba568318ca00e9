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
			operation.Notes("The credential is revoked at the dashboard, the identity provider or the gateways that issued it. The access request is not deleted."), operation.Example(nil, portal.Status{Status: "ok"})),
		operation.PUT("rotate", "/{credential_id}/rotate", "Rotate a credential", s.rotateCredential, portal.Action(), portal.Unprocessable(),
			operation.Faulting(append([]string{credential.CodeState, issuers.CodeRotate, CodeIdle}, failing...)...),
			operation.Notes("Only for keys; OAuth clients cannot be rotated. The new value has the same rights, and its expiry starts anew. The old value stops working at once. A rotation that fails part-way continues later."),
			operation.Example(nil, portal.Executed("Rotate"))),
		operation.GET("certificate", "/{credential_id}/certificate", "Fetch the certificate of a credential", s.getCertificate, operation.Example(nil, exampleCertificate)),
		operation.PUT("renew", "/{credential_id}/certificate", "Replace the certificate of a credential", s.renewCertificate, portal.Unprocessable(),
			operation.Faulting(append([]string{credential.CodeState, credential.CodeCertificate}, failing...)...),
			operation.Notes("Only for credentials with a certificate of the developer. The new certificate has the same rights. The previous one is removed from the certificate lists of APIs for which no other credential needs it."),
			operation.Example(map[string]any{"Certificate": "-----BEGIN CERTIFICATE-----…"}, exampleCertificate)),
		operation.DELETE("forget", "/{credential_id}/certificate", "Remove the certificate of a credential", s.forgetCertificate, operation.Faulting(append([]string{credential.CodeState}, failing...)...),
			operation.Notes("The key is not deleted, but gives no access until the credential has a certificate again."), operation.Example(nil, portal.Status{Status: "ok"})),
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
