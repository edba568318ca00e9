package apidef

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// CertificateUse is the purpose for which an API needs a certificate.
type CertificateUse string

// The uses of certificates.
const (
	ClientUse   CertificateUse = "client"   // callers authenticate with it
	UpstreamUse CertificateUse = "upstream" // gateways authenticate at the upstream with it, sign requests with it, or know the upstream's public key by it
	ServerUse   CertificateUse = "server"   // the API's own domain presents it
)

// Certificate is one use of a certificate.
type Certificate struct {
	ID  string
	Use CertificateUse
}

// Certificates returns the certificates and public keys that an API uses. The classic
// definition of every class contains them all, also those of a document. They are sorted by
// ID; uses of one certificate have the order of lists of uses.
func (a API) Certificates() []Certificate {
	o, err := doc.LoadObject(a.definition)
	if err != nil {
		return nil
	}
	var out []Certificate
	have := map[Certificate]bool{}
	add := func(use CertificateUse, ids ...string) {
		for _, id := range ids {
			if c := (Certificate{id, use}); id != "" && !have[c] {
				have[c] = true
				out = append(out, c)
			}
		}
	}
	add(ClientUse, valueIn[[]string](o, "client_certificates")...)
	add(UpstreamUse, upstreamKeys(o)...)
	for _, ids := range valueIn[map[string]string](o, "pinned_public_keys") {
		add(UpstreamUse, pins(ids)...)
	}
	add(ServerUse, valueIn[[]string](o, "certificates")...)
	slices.SortStableFunc(out, func(a, b Certificate) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// KeyCertificates returns the certificates with private keys that gateways need, to
// authenticate to upstreams and callers. For other certificates the public key is enough.
func (a API) KeyCertificates() []string {
	o, err := doc.LoadObject(a.definition)
	if err != nil {
		return nil
	}
	out := append(upstreamKeys(o), valueIn[[]string](o, "certificates")...)
	return slices.DeleteFunc(out, func(id string) bool { return id == "" })
}

// upstreamKeys returns the certificates for calls to upstreams, or for signing requests to
// them.
func upstreamKeys(definition doc.Object) []string {
	out := slices.Collect(maps.Values(valueIn[map[string]string](definition, "upstream_certificates")))
	return append(out, valueIn[struct {
		ID string `json:"certificate_id"`
	}](definition, "request_signing").ID)
}

// valueIn returns a member as a T; the zero T if the member has another type.
func valueIn[T any](o doc.Object, name string) T {
	var v, zero T
	if raw, ok := o.Get(name); !ok || json.Unmarshal(raw, &v) != nil {
		return zero
	}
	return v
}

// pins returns the public keys of a domain: a comma-separated list of identifiers.
func pins(text string) []string {
	out := strings.Split(text, ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// WithoutCertificate returns a copy of a that no longer uses a certificate.
func (a API) WithoutCertificate(id string, now time.Time) (API, error) {
	def, document, err := a.Texts()
	if err != nil {
		return a, err
	}
	dropItem(def, id, "client_certificates")
	dropItem(def, id, "certificates")
	for _, domain := range def.Get("upstream_certificates").Names() {
		if def.Get("upstream_certificates", domain).Text() == id {
			def.Delete("upstream_certificates", domain)
		}
	}
	for _, domain := range def.Get("pinned_public_keys").Names() {
		kept := slices.DeleteFunc(pins(def.Get("pinned_public_keys", domain).Text()), func(pin string) bool { return pin == id })
		if len(kept) == 0 {
			def.Delete("pinned_public_keys", domain)
		} else {
			def.Get("pinned_public_keys").Set(domain, doc.NewString(strings.Join(kept, ",")))
		}
	}
	dropText(def, id, "request_signing", "certificate_id")
	extension := document.Get("x-tyk-api-gateway")
	dropItem(extension, id, "server", "clientCertificates", "allowlist")
	dropItem(extension, id, "server", "customDomain", "certificates")
	dropText(extension, id, "upstream", "authentication", "requestSigning", "certificateId")
	dropEntries(extension, func(entry *doc.Node) bool { return entry.Get("certificate").Text() == id }, "upstream", "mutualTLS", "domainToCertificateMapping")
	dropEntries(extension, func(entry *doc.Node) bool {
		return dropItem(entry, id, "publicKeys") && entry.Get("publicKeys").Len() == 0
	},
		"upstream", "certificatePinning", "domainToPublicKeysMapping")
	return a.Rewrite(Draft{Definition: def, Document: document}, now)
}

// dropText deletes a member if it equals text.
func dropText(n *doc.Node, text string, path ...string) {
	if n.Get(path...).Text() == text {
		n.Delete(path...)
	}
}

// dropItem deletes a text from a list, and reports whether it was there.
func dropItem(n *doc.Node, text string, path ...string) bool {
	return dropEntries(n, func(entry *doc.Node) bool { return entry.Text() == text }, path...)
}

func dropEntries(n *doc.Node, gone func(*doc.Node) bool, path ...string) bool {
	list := n.Get(path...)
	if !list.Is(doc.TypeArray) {
		return false
	}
	items := slices.Clone(list.Items())
	kept := slices.DeleteFunc(items, gone)
	if len(kept) == list.Len() {
		return false
	}
	list.SetItems(kept)
	return true
}

// TypeName returns the name of the API's class in lists of uses.
func (a API) TypeName() string {
	switch {
	case a.class == Streams:
		return "Tyk Streams"
	case a.class != Classic:
		return "Tyk OAS"
	case strings.HasPrefix(a.facts.protocol, "tcp"), a.facts.protocol == "tls":
		return "TCP"
	}
	switch a.facts.graphql {
	case "":
		return "Tyk Classic"
	case "executionEngine":
		return "Tyk UDG"
	case "subgraph":
		return "Subgraph"
	case "supergraph":
		return "Supergraph"
	}
	return "Tyk GraphQL"
}
