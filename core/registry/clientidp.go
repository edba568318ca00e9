// Package registry models the identity providers of the tokens that clients present at
// gateways: the issuer, the address of its keys, and the policy that each token scope grants
// on each API. Logins of people are not part of it.
package registry

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name of the resource in storage, history and the change log.
const Kind = "clientidp"

// IdP is one trusted issuer of client tokens. It is immutable: every change
// returns another IdP (docs/wire/client-idps.md#record).
type IdP struct {
	ID          string    `json:"_id"`           // 24 hex digits, set by the server
	ClientIdPID string    `json:"client_idp_id"` // unique within the organisation
	OrgID       tenant.ID `json:"org_id"`
	Name        string    `json:"name"`
	Issuer      string    `json:"issuer"`           // selects the IdP for a token by its iss claim; may be empty
	JWKSURI     string    `json:"jwks_uri"`         // where gateways fetch the signing keys
	ScopeClaim  string    `json:"scope_claim_name"` // "" means the claim "scope"
	APIMappings Mappings  `json:"api_mappings"`
	Created     time.Time `json:"date_created"`
	Updated     time.Time `json:"last_updated"`
}

// Type is the type of a record. Gateways read most of its members, in any letter
// case; another spelling is refused.
var Type = shape.Object(
	shape.Members("_id client_idp_id org_id name issuer jwks_uri scope_claim_name", shape.String),
	shape.Members("date_created last_updated", shape.Time),
	shape.Members("api_mappings", shape.Map(mappingType)),
)

var mappingType = shape.Object(shape.Members("scope_to_policy", shape.Map(shape.String)))

// Draft has the members of an IdP that a client may set; other members are ignored.
type Draft struct {
	ClientIdPID string   `json:"client_idp_id,omitempty" doc:"Identifier, unique in the organisation. Default: the database ID."`
	Name        string   `json:"name" doc:"For people."`
	Issuer      string   `json:"issuer,omitempty" doc:"Claim iss of the provider's tokens. Gateways find the identity provider by it."`
	JWKSURI     string   `json:"jwks_uri" doc:"Address from which gateways fetch the keys that verify the provider's tokens."`
	ScopeClaim  string   `json:"scope_claim_name,omitempty" doc:"Claim with the scopes of a token. Default: scope."`
	APIMappings Mappings `json:"api_mappings,omitzero"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Draft) UnmarshalJSON(text []byte) error {
	if err := Type.Spelling(text); err != nil {
		return err
	}
	type plain Draft
	return json.Unmarshal(text, (*plain)(d))
}

// New makes an IdP from a draft, or returns a fault that names the invalid field. Its
// client_idp_id is its ID unless the draft has one.
func New(id string, org tenant.ID, now time.Time, d Draft) (IdP, error) {
	return IdP{ID: id, ClientIdPID: id, OrgID: org, Created: now}.Replace(d, now)
}

// Replace returns p with the values of the draft: absent fields become empty; only an absent
// or empty client_idp_id keeps the old value.
func (p IdP) Replace(d Draft, now time.Time) (IdP, error) {
	if strings.TrimSpace(d.Name) == "" {
		return IdP{}, required("name")
	}
	if flaw := label.Flaw(d.Name, p.Name); flaw != "" {
		return IdP{}, fault.New(fault.Invalid, Kind+".name", "name %s", flaw).At("name")
	}
	if strings.TrimSpace(d.JWKSURI) == "" {
		return IdP{}, required("jwks_uri")
	}
	if d.ClientIdPID != "" {
		// An identifier that cannot stand in a path is refused.
		if id := d.ClientIdPID; !label.InPath(id, maxID) || strings.ContainsFunc(id, unicode.IsControl) {
			return IdP{}, fault.New(fault.Invalid, Kind+".client_idp_id", "invalid client_idp_id").At("client_idp_id")
		}
		p.ClientIdPID = d.ClientIdPID
	}
	p.Name, p.Issuer, p.JWKSURI, p.ScopeClaim = d.Name, d.Issuer, d.JWKSURI, d.ScopeClaim
	p.APIMappings, p.Updated = d.APIMappings, now
	return p, nil
}

// maxID is the length limit of a client_idp_id in characters.
const maxID = 256

// PatchMappings merges a patch into the mappings (RFC 7386 at every level).
func (p IdP) PatchMappings(patch doc.Patch, now time.Time) (IdP, error) {
	merged, err := p.APIMappings.Merge(patch)
	if err != nil {
		return IdP{}, err
	}
	p.APIMappings, p.Updated = merged, now
	return p, nil
}

// WithMappings returns p with other mappings.
func (p IdP) WithMappings(ms Mappings, now time.Time) IdP {
	p.APIMappings, p.Updated = ms, now
	return p
}

// Mapping returns the mapping of one API, or a NotFound fault.
func (p IdP) Mapping(api string) (Mapping, error) {
	m, ok := p.APIMappings.Get(api)
	if !ok {
		return Mapping{}, fault.New(fault.NotFound, Kind+".mapping.not_found", "client idp mapping not found").At("api_mappings." + api)
	}
	return m, nil
}

// WithMapping returns p with the mapping of one API replaced, or a fault when p would have too
// many mappings.
func (p IdP) WithMapping(api string, m Mapping, now time.Time) (IdP, error) {
	p.APIMappings, p.Updated = p.APIMappings.With(api, m), now
	return p, caps.ClientIdP.Count(mappingsOfIdP, p.APIMappings.Len())
}

// WithoutMapping returns p without the mapping of one API, or a NotFound fault.
func (p IdP) WithoutMapping(api string, now time.Time) (IdP, error) {
	if _, err := p.Mapping(api); err != nil {
		return IdP{}, err
	}
	p.APIMappings, p.Updated = p.APIMappings.Without(api), now
	return p, nil
}

// KeySourceDoubt returns why gateways may be unable to fetch keys from the jwks_uri, or "". It
// is a warning for the log and no reason to refuse the IdP: a gateway also resolves references
// into its key-value stores.
func (p IdP) KeySourceDoubt() string {
	for _, prefix := range []string{"http://", "https://", "env://", "secrets://", "file://", "consul://", "vault://", "kv://"} {
		if strings.HasPrefix(p.JWKSURI, prefix) {
			return ""
		}
	}
	return "jwks_uri is neither an absolute http(s) URL nor a key-value reference"
}

// AppendJSON implements doc.Appender: the record as it is stored and sent in responses.
func (p IdP) AppendJSON(b []byte) ([]byte, error) {
	b = doc.AppendString(append(b, `{"_id":`...), p.ID)
	b = p.appendShared(append(b, ','))
	b = p.Created.AppendFormat(append(b, `,"date_created":"`...), time.RFC3339Nano)
	b = p.Updated.AppendFormat(append(b, `","last_updated":"`...), time.RFC3339Nano)
	return append(b, `"}`...), nil
}

// Most returns numbers of JSON values and bytes that the encoded provider does not exceed. It costs
// much less than to encode the provider.
func (p IdP) Most() (values, size int) {
	const members, names = 16, 512 // of all members but the mappings, with the times
	texts := len(p.ID) + len(p.ClientIdPID) + len(p.OrgID) + len(p.Name) + len(p.Issuer) + len(p.JWKSURI) + len(p.ScopeClaim)
	values, size = members+1, names+len("{}")+doc.MostEscaped*texts
	for name, raw := range p.APIMappings.apis.All() {
		values += len(`,{{`) + len(raw)/len(`"":""`) // a scope takes this many bytes at least
		size += doc.MostEscaped*len(name) + len(raw) + len(`"":,`)
	}
	return values, size
}

// AppendFeed appends the record as gateways read it (docs/wire/feeds.md#client-idps).
func (p IdP) AppendFeed(b []byte) []byte { return append(p.appendShared(append(b, '{')), '}') }

// appendShared appends the members that both clients and gateways see.
func (p IdP) appendShared(b []byte) []byte {
	for _, f := range [...]struct{ name, value string }{
		{`"client_idp_id":`, p.ClientIdPID}, {`,"org_id":`, string(p.OrgID)}, {`,"name":`, p.Name},
		{`,"issuer":`, p.Issuer}, {`,"jwks_uri":`, p.JWKSURI}, {`,"scope_claim_name":`, p.ScopeClaim},
	} {
		b = doc.AppendString(append(b, f.name...), f.value)
	}
	b, _ = p.APIMappings.AppendJSON(append(b, `,"api_mappings":`...)) // an object of texts can always be encoded
	return b
}

// MarshalJSON implements json.Marshaler.
func (p IdP) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil) }

// Load reads a stored record. It does not validate: the checks of today must not reject
// records that older versions stored.
func Load(text []byte) (p IdP, err error) {
	o, err := doc.LoadObject(text)
	if err != nil {
		return p, err
	}
	if raw, ok := o.Get("api_mappings"); ok && doc.IsObject(raw) {
		if p.APIMappings.apis, err = doc.LoadObject(raw); err != nil {
			return p, err
		}
	}
	var stored struct {
		ID          string    `json:"_id"`
		ClientIdPID string    `json:"client_idp_id"`
		OrgID       tenant.ID `json:"org_id"`
		Name        string    `json:"name"`
		Issuer      string    `json:"issuer"`
		JWKSURI     string    `json:"jwks_uri"`
		ScopeClaim  string    `json:"scope_claim_name"`
		Created     time.Time `json:"date_created"`
		Updated     time.Time `json:"last_updated"`
	}
	rest, err := o.Without("api_mappings").AppendJSON(nil)
	if err == nil {
		err = json.Unmarshal(rest, &stored)
	}
	return IdP{
		ID: stored.ID, ClientIdPID: stored.ClientIdPID, OrgID: stored.OrgID, Name: stored.Name, Issuer: stored.Issuer,
		JWKSURI: stored.JWKSURI, ScopeClaim: stored.ScopeClaim, APIMappings: p.APIMappings,
		Created: stored.Created, Updated: stored.Updated,
	}, err
}

func required(field string) error {
	return fault.New(fault.Invalid, Kind+"."+field, "client idp %s is required", field).At(field)
}
