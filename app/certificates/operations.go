package certificates

import (
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

const exampleID = "5f1a0c5d8e3b2a1f0000000138edce514c2d0a866063550c64d6c90be99d01561ac5aa7e82b8610b7e273d37"

// Examples for the API description.
var (
	exampleName = map[string]any{"Country": []any{"DE"}, "Organization": []any{"Gatehouse"}, "OrganizationalUnit": []any{}, "Locality": []any{}, "Province": []any{},
		"StreetAddress": []any{}, "PostalCode": []any{}, "SerialNumber": "", "CommonName": "orders.example", "Names": []any{}, "ExtraNames": []any{}}
	exampleMeta = map[string]any{"id": exampleID, "fingerprint": exampleID[24:], "has_private": true, "issuer": exampleName, "subject": exampleName,
		"not_before": "2026-01-02T03:04:05Z", "not_after": "2036-01-02T03:04:05Z", "dns_names": []any{"orders.example"}, "is_ca": false}
	exampleUse = map[string]any{"api_id": "orders", "name": "Orders", "usage_type": []any{"client", "upstream"}, "tyk_api_type": "Tyk OAS"}
)

// maxForm is the maximum size of a form with a certificate, in bytes.
const maxForm = certificate.MaxText + 64<<10

// answers sets the texts of an operation for a certificate that does not exist, and for
// failures of gateways.
func answers(missing operation.Answer, trouble string) operation.Option {
	return operation.Answers(map[string]operation.Answer{
		codeMissing: missing, "internal": {Status: 500, Text: trouble}, apis.CodeMissing: {Status: 400, Text: "API not found"},
		codeGateway: {Status: 500, Text: trouble},
	})
}

// Operations lists the operations on certificates.
func (s *Service) Operations() []operation.Operation {
	const listed = "Could not retrieve certs."
	absent := func(text string) operation.Answer { return operation.Answer{Status: 404, Text: text} }
	listing := operation.Faulting(codeFilter, codeGateway, apis.CodeMissing, apis.CodeNotOwned)
	empty := operation.Answer{Status: 500, Text: "Failed to read response body, body empty."}
	notCreated := operation.Answer{Status: 404, Text: "Could not create certificate.{message}"}
	return operation.Group{
		Surface: operation.Management, Name: "certs", Path: "/api/certs", Tag: "Certificates", Permission: access.Certs, OneOrganisation: true,
		Style: operation.Style{Word: "OK"},
	}.Rows(
		operation.GET("list", "", "List certificates", s.List, listing,
			operation.Answers(map[string]operation.Answer{codeGateway: {Status: 400, Text: listed}, "internal": {Text: "Failed to marshal data for certificates basics list."}, apis.CodeMissing: {Status: 400, Text: "API not found"}}),
			operation.Notes("The list has identifiers; with mode=detailed it has names and dates as well."), operation.Example(nil, map[string]any{"certs": []any{exampleID}, "pages": 1})),
		operation.POST("create", "", "Upload a certificate", s.Upload, operation.AnyPart(), operation.Limits(maxForm, 0),
			operation.Faulting(certificate.CodeInvalid, codeTaken, codeEmpty, codeRefused, codeGateway),
			operation.Answers(map[string]operation.Answer{
				codeEmpty: empty, operation.CodeForm: empty, operation.CodeFiles: {Status: 400}, codeTaken: notCreated, certificate.CodeInvalid: notCreated, codeRefused: notCreated,
				codeGateway: {Status: 500, Text: "Could not create certificate."},
			}),
			operation.Notes("The body is a form with one PEM file. The file holds a certificate, optionally with its chain and private key, or one public key. The part of the form may have any name."),
			operation.Example(map[string]any{"file": "-----BEGIN CERTIFICATE-----…"}, Uploaded{exampleID, "Certificate added", "ok"})),
		operation.GET("details", "/details", "List certificates with all details", s.ListDetails, operation.Lists(operation.Item{ID: "id", Name: "subject.CommonName"}), listing,
			operation.Answers(map[string]operation.Answer{codeGateway: {Status: 400, Text: "Could not retrieve certs details."}, "internal": {Text: "Failed to marshal data for certificate list."}, apis.CodeMissing: {Status: 400, Text: "API not found"}}),
			operation.Example(nil, map[string]any{"certificates": []any{exampleMeta}, "pages": 1})),
		operation.GET("dependencies", "/dependencies/{certId}", "List the uses of a certificate", s.GetDependencies, operation.Faulting(codeForeign, codeGateway),
			answers(absent(""), "Could not retrieve certificate dependencies."),
			operation.Example(nil, map[string]any{"certID": exampleID, "client_cert_apis": []any{"orders"}, "client_cert_api_names": []any{"Orders"},
				"upstream_cert_apis": []any{}, "upstream_cert_api_names": []any{}, "key_cert": ""})),
		operation.DELETE("detach", "/dependencies/{certId}", "Remove a certificate from everything that uses it", s.DeleteDependencies,
			operation.Faulting(codeForeign, codeGateway, apis.CodeNotOwned, policy.CodeNotOwned), answers(absent(""), "Could not delete certificate dependencies."),
			operation.Notes("The key of the certificate is deleted. The certificate is removed from all APIs in one commit."),
			operation.Example(nil, map[string]any{"Status": "OK", "Message": "Certificate dependencies deletion successfully attempted.", "Meta": nil})),
		operation.GET("get", "/{certId}", "Read the details of a certificate", s.Get, operation.Faulting(codeForeign, codeMissing, codeGateway),
			answers(absent("Could not retrieve certificate details. Certificate with given SHA256 fingerprint not found."), "Could not retrieve certificate details."),
			operation.Notes("The response never has the private key."), operation.Example(nil, exampleMeta)),
		operation.DELETE("delete", "/{certId}", "Delete a certificate", s.Delete, operation.Faulting(codeForeign, codeMissing, codeGateway),
			answers(absent("Could not delete certificate."), "Could not delete certificate."),
			operation.Notes("A certificate in use can be deleted as well. Gateways then refuse clients that present it."), operation.Example(nil, Status{"ok", "removed"})),
		operation.GET("apis", "/{certId}/apis", "List the APIs that use a certificate", s.ListUsage, operation.Faulting(codeForeign, codeMissing, codeGateway),
			operation.Answers(map[string]operation.Answer{
				codeMissing: absent("Certificate not found or access denied"), codeForeign: absent("Certificate not found or access denied"),
				codeGateway: {Status: 500, Text: "Could not retrieve certificate details."},
			}),
			operation.Notes("The list has all APIs of the organisation, including those that the caller does not own. Without p it is not paged."),
			operation.Example(nil, map[string]any{"cert_id": exampleID, "apis": []any{exampleUse}, "pages": 1})),
	)
}
