package apidef

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// CertificateUse says what an API needs a certificate for.
type CertificateUse string

// The uses of certificates.
const (
	ClientUse   CertificateUse = "client"   // callers prove with it who they are
	UpstreamUse CertificateUse = "upstream" // the upstream is called with it, has its public key, or gets requests that are signed with it
	ServerUse   CertificateUse = "server"   // the API's own domain answers with it
)

// Certificate is one use of a certificate.
type Certificate struct {
	ID  string
	Use CertificateUse
}

// Certificates returns which certificates and public keys an API uses. A definition of
// whatever class has them all: those of a document are in it as well. They are sorted by ID;
// uses of one are in the order in which lists of uses have them.
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

// KeyCertificates returns the certificates with whose private keys gateways prove who they are,
// to upstreams and to callers. Of others the public key is enough.
func (a API) KeyCertificates() []string {
	o, err := doc.LoadObject(a.definition)
	if err != nil {
		return nil
	}
	out := append(upstreamKeys(o), valueIn[[]string](o, "certificates")...)
	return slices.DeleteFunc(out, func(id string) bool { return id == "" })
}

// upstreamKeys returns the certificates with which upstreams are called, or which sign requests to them.
func upstreamKeys(definition doc.Object) []string {
	out := slices.Collect(maps.Values(valueIn[map[string]string](definition, "upstream_certificates")))
	return append(out, valueIn[struct {
		ID string `json:"certificate_id"`
	}](definition, "request_signing").ID)
}

// valueIn returns a member as a T; zero when it is none.
func valueIn[T any](o doc.Object, name string) T {
	var v, zero T
	if raw, ok := o.Get(name); !ok || json.Unmarshal(raw, &v) != nil {
		return zero
	}
	return v
}

// pins returns the public keys of a domain: their identifiers stand in one text.
func pins(text string) []string {
	out := strings.Split(text, ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// WithoutCertificate returns a as an API that does not use a certificate any more.
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

// dropText takes a member away that is a text.
func dropText(n *doc.Node, text string, path ...string) {
	if n.Get(path...).Text() == text {
		n.Delete(path...)
	}
}

// dropItem takes a text out of a list, and reports whether it was there.
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

// TypeName returns what lists of uses call the class of an API.
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
