package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// certificates is the Client as gateway.Certificates.
type certificates struct{ *Client }

// fingerprint matches the SHA-256 in an identifier.
var fingerprint = regexp.MustCompile(`^[0-9a-f]{64}$`)

// belongs reports whether a certificate identifier belongs to the organisation.
func belongs(org tenant.ID, id string) bool {
	rest, ok := strings.CutPrefix(id, string(org))
	return ok && org != "" && fingerprint.MatchString(rest)
}

// foreign returns the error for an identifier that belongs to another organisation, or is
// malformed. Gateways are not asked for it.
func foreign(org tenant.ID, id string) error {
	switch {
	case belongs(org, id):
		return nil
	case strings.HasPrefix(id, string(org)):
		return gateway.ErrUnknown
	}
	return gateway.ErrForeign
}

// AddCertificate implements gateway.Certificates. A gateway refuses a certificate that it
// already has. When that happens to a repetition after a lost answer, the first attempt has
// arrived.
func (c certificates) AddCertificate(ctx context.Context, org tenant.ID, pem []byte) (string, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	lost := false
	k := call{name: "certificates.add", method: http.MethodPost, path: []string{"certs"}, query: url.Values{"org_id": {string(org)}}, kind: "text/plain", body: pem}
	body, err := c.write(ctx, k, func(context.Context) (bool, error) { lost = true; return false, nil })
	taken := errors.Is(err, gateway.ErrTaken)
	if err != nil && !taken {
		return "", tried("add a certificate", err)
	}
	n, parsed := object(body)
	if parsed != nil {
		return "", tried("add a certificate", fmt.Errorf("%w: %w", gateway.ErrUncertain, parsed))
	}
	id := n.Get("id").Text()
	if taken {
		id = ""
		for word := range strings.FieldsSeq(n.Get("message").Text()) {
			if belongs(org, word) {
				id = word
			}
		}
	}
	switch {
	case !belongs(org, id):
		return "", tried("add a certificate", fmt.Errorf("%w: the gateway names no identifier", gateway.ErrUncertain))
	case taken && !lost:
		return id, tried("add a certificate", err)
	}
	return id, nil
}

// Certificate implements gateway.Certificates.
func (c certificates) Certificate(ctx context.Context, org tenant.ID, id string) (certificate.Meta, error) {
	if err := foreign(org, id); err != nil {
		return certificate.Meta{}, tried("read a certificate", err)
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	body, err := c.read(ctx, call{name: "certificates.read", method: http.MethodGet, path: []string{"certs", id}, query: url.Values{"org_id": {string(org)}}})
	if err != nil {
		return certificate.Meta{}, tried("read a certificate", err)
	}
	m, err := decode[certificate.Meta](body)
	if err == nil && m.ID != id {
		err = errForm
	}
	return m, tried("read a certificate", err)
}

// atATime is how many certificates one call asks for: their identifiers are part of the URL.
const atATime = 50

// Certificates implements gateway.Certificates.
func (c certificates) Certificates(ctx context.Context, org tenant.ID, ids []string) ([]certificate.Meta, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	ids = slices.DeleteFunc(ids, func(id string) bool { return !belongs(org, id) })
	var out []certificate.Meta
	for some := range slices.Chunk(ids, atATime) {
		body, err := c.read(ctx, call{name: "certificates.read", method: http.MethodGet, path: []string{"certs", strings.Join(some, ",")}, query: url.Values{"org_id": {string(org)}}})
		switch {
		case errors.Is(err, gateway.ErrUnknown):
			continue
		case err != nil:
			return nil, tried("read certificates", err)
		}
		list := make([]certificate.Meta, 1)
		if n, none := doc.ParseNode(body); none == nil && n.Is(doc.TypeObject) { // a single certificate is not wrapped in a list
			list[0], err = decode[certificate.Meta](body)
		} else {
			list, err = decode[[]certificate.Meta](body)
		}
		if err != nil {
			return nil, tried("read certificates", err)
		}
		out = append(out, list...)
	}
	slices.SortFunc(out, func(a, b certificate.Meta) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// ListCertificates implements gateway.Certificates.
func (c certificates) ListCertificates(ctx context.Context, org tenant.ID) ([]certificate.Basics, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	body, err := c.read(ctx, call{name: "certificates.list", method: http.MethodGet, path: []string{"certs"}, query: url.Values{"org_id": {string(org)}, "mode": {"detailed"}}})
	if err != nil {
		return nil, tried("list certificates", err)
	}
	answer, err := decode[struct {
		Certs []certificate.Basics `json:"certs"`
	}](body)
	list := slices.DeleteFunc(answer.Certs, func(b certificate.Basics) bool { return !belongs(org, b.ID) })
	slices.SortFunc(list, func(a, b certificate.Basics) int { return cmp.Compare(a.ID, b.ID) })
	return list, tried("list certificates", err)
}

// DeleteCertificate implements gateway.Certificates.
func (c certificates) DeleteCertificate(ctx context.Context, org tenant.ID, id string) error {
	switch err := foreign(org, id); {
	case errors.Is(err, gateway.ErrUnknown):
		return nil
	case err != nil:
		return tried("delete a certificate", err)
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	_, err := c.write(ctx, call{name: "certificates.delete", method: http.MethodDelete, path: []string{"certs", id}, query: url.Values{"org_id": {string(org)}}}, again)
	if errors.Is(err, gateway.ErrUnknown) {
		return nil
	}
	return tried("delete a certificate", err)
}
