package key

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/password"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Codes of faults.
const (
	CodeType        = Kind + ".type"
	CodeRights      = Kind + ".rights"
	CodePolicy      = Kind + ".policy"
	CodeExpiry      = Kind + ".post_expiry_action"
	CodeCertificate = Kind + ".certificate"
	CodePassword    = Kind + ".password"
	CodeName        = Kind + ".name"
	CodeTooMany     = Kind + ".too_many"
)

// Draft is a session as a client sends it. Every member is kept, except that the server
// overwrites its own members.
type Draft struct{ node *doc.Node }

var errObject = errors.New("a session is an object")

// UnmarshalJSON implements json.Unmarshaler.
func (d *Draft) UnmarshalJSON(text []byte) error {
	n, err := doc.ParseNode(bytes.Clone(text))
	if err == nil && !n.Is(doc.TypeObject) {
		err = errObject
	}
	d.node = n
	return err
}

// MarshalJSON implements json.Marshaler.
func (d Draft) MarshalJSON() ([]byte, error) { return d.node.JSON(), nil }

// APIs returns the identifiers of the APIs to which the draft itself gives rights.
func (d Draft) APIs() []string { return APIs(d.node) }

// Policies returns the identifiers of the policies that the draft carries.
func (d Draft) Policies() []string { return Policies(d.node) }

// Bounded refuses a draft with too many entries.
func (d Draft) Bounded() error { return caps.Key.Check(d.node) }

// User returns the name of the basic-auth user in the draft.
func (d Draft) User() string { return d.node.Get("basic_auth_data", "user").Text() }

// Checks are the other inputs of the rules for a session.
type Checks struct {
	Master   bool                     // keys may have neither rights nor policies: enable_master_keys
	User     bool                     // the session is a basic-auth user
	Password password.Policy          // of basic-auth users
	APIs     policy.APIs              // at least the existing ones to which the draft gives rights
	Policies map[string]policy.Policy // at least the existing ones of the draft, by ID
}

// New makes the session of a new key, or returns a fault that names the wrong field
// (docs/wire/keys.md#rules).
func (d Draft) New(org tenant.ID, c Checks) (*doc.Node, error) { return d.session(org, nil, c) }

// Over makes the session that replaces another one. It keeps secrets of the old one that
// responses leave out, and policies that no longer make keys.
func (d Draft) Over(old *doc.Node, c Checks) (*doc.Node, error) {
	s, err := d.session(tenant.ID(old.Get("org_id").Text()), old, c)
	if err != nil {
		return nil, err
	}
	if s.Get("hmac_enabled").True() && s.Get("hmac_string").Text() == "" && old.Get("hmac_string").Text() != "" {
		s.Set("hmac_string", old.Get("hmac_string").Clone())
	}
	if s.Get("jwt_data").Is(doc.TypeObject) && s.Get("jwt_data", "secret").Text() == "" && old.Get("jwt_data", "secret").Text() != "" {
		s.Get("jwt_data").Set("secret", old.Get("jwt_data", "secret").Clone())
	}
	return s, nil
}

func (d Draft) session(org tenant.ID, old *doc.Node, c Checks) (*doc.Node, error) {
	s := d.node.Clone()
	s.Set("org_id", doc.NewString(string(org)))
	for _, name := range []string{"key_id", "date_created", "last_updated"} { // gateways set these
		s.Delete(name)
	}
	policy.FillRights(s.Get("access_rights"))
	for _, name := range typed {
		if v := s.Get(name); v.Is(doc.TypeObject) {
			s.Set(name, v.Without((*doc.Node).IsNull))
		}
	}
	Table.AllWhole(s)
	if problems := Table.Check(s); len(problems) > 0 {
		p := problems[0]
		return nil, fault.New(fault.Invalid, CodeType, "key %s %s", p.Path, p.Demand()).At(p.Path)
	}
	if flaw := label.Flaw(s.Get("alias").Text(), old.Get("alias").Text()); flaw != "" {
		return nil, fault.New(fault.Invalid, CodeType, "key alias %s", flaw).At("alias")
	}
	if s.Get("enable_detail_recording").True() {
		s.Set("enable_detailed_recording", doc.NewBool(true))
	}
	switch s.Get("post_expiry_action").Text() {
	case "", "retain", "delete":
	default:
		return nil, fault.New(fault.Invalid, CodeExpiry, "key post_expiry_action must be retain or delete").At("post_expiry_action")
	}
	for _, step := range []func() error{
		func() error { return checkCertificates(s, old) },
		func() error { return c.policies(Policies(s), Policies(old)) },
		func() error { return c.rights(s, old) },
		func() error { return policy.CheckRights(s.Get("access_rights"), c.APIs) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	// Each password in a request is checked, because it makes a basic-auth user in any operation.
	// An existing user keeps the password if none is sent.
	if given := s.Get("basic_auth_data", "password").Text(); given != "" || c.User && old == nil {
		if lacks := c.Password.Lacks(given); lacks != "" {
			return nil, fault.New(fault.Invalid, CodePassword, "the password needs %s", lacks).At("basic_auth_data.password")
		}
	}
	return s, nil
}

// QuotaTrigger is the trigger in events about a key that crossed a limit of its quota
// (docs/wire/deliveries.md#events-of-an-organisation).
const QuotaTrigger = "quota_trigger"

// IsUser reports whether a session is that of a basic-auth user: clients send an empty
// basic_auth_data with every key.
func IsUser(session *doc.Node) bool {
	return session.Get("basic_auth_data", "password").Text() != "" || session.Get("basic_auth_data", "hash_type").Text() != ""
}

// typed are the members that gateways decode completely. They ignore null.
var typed = []string{"access_rights", "basic_auth_data", "jwt_data", "monitor", "smoothing"}

// Typed reports whether gateways decode a member of a session completely.
func Typed(name string) bool { return slices.Contains(typed, name) }

// fingerprint is the number of digits after the organisation in a certificate's identifier.
const fingerprint = 64

// checkCertificates refuses a text that cannot identify a certificate, because gateways write
// it unchanged into the identifier of the key. It also refuses new bindings to certificates of
// other organisations, because gateways look them up in the organisation of the identifier.
func checkCertificates(s, old *doc.Node) error {
	if id := s.Get("certificate").Text(); id != "" && id != old.Get("certificate").Text() && CheckName(id) != nil {
		return fault.New(fault.Invalid, CodeCertificate, "key certificate must be the identifier of a certificate").At("certificate")
	}
	before := old.Get(Bindings).Texts()
	for i, id := range named(s.Get(Bindings)) {
		if id == "" {
			return fault.New(fault.Invalid, CodeCertificate, "key %s[%d] must be the identifier of a certificate", Bindings, i).At(Bindings)
		}
		if len(id) > fingerprint && id[:len(id)-fingerprint] != s.Get("org_id").Text() && !slices.Contains(before, id) {
			return fault.New(fault.Invalid, CodeCertificate, "key %s names %q, which is no certificate of this organisation", Bindings, id).At(Bindings)
		}
	}
	return nil
}

// Bindings is the session member with certificates: requests with the key must come with one
// of them.
const Bindings = "mtls_static_certificate_bindings"

// MaxRights is the maximum number of access definitions in all policies of a key, and
// MaxPolicyBytes the maximum size of their texts in bytes: gateways merge them into one
// session.
const (
	MaxRights      = 50_000
	MaxPolicyBytes = 16 << 20
)

// Burden is the total size of the policies of one key.
type Burden struct{ Rights, Bytes int }

// Refuse returns an error if the policies would make a session too large.
func (b Burden) Refuse() error {
	switch {
	case b.Rights > MaxRights:
		return fault.New(fault.Invalid, CodeTooMany, "the policies in apply_policies have %d access definitions in all; those of a key may have %d", b.Rights, MaxRights).At("apply_policies")
	case b.Bytes > MaxPolicyBytes:
		return fault.New(fault.Invalid, CodeTooMany, "the policies in apply_policies have %d bytes in all; those of a key may have %d", b.Bytes, MaxPolicyBytes).At("apply_policies")
	}
	return nil
}

// policies refuses unknown policies, those that no longer make keys unless the key had them
// before, and those with too many rights in total.
func (c Checks) policies(ids, before []string) error {
	had := make(map[string]bool, len(before))
	for _, id := range before {
		had[id] = true
	}
	for _, id := range ids {
		p, known := c.Policies[id]
		switch {
		case !known || !p.Published():
			return fault.New(fault.Invalid, CodePolicy, "policy not found: \"%s\"", id).At("apply_policies")
		case !p.MakesKeys() && !had[id]:
			return fault.New(fault.Invalid, CodePolicy, "policy \"%s\" is a draft or inactive: no keys can be made with it", id).At("apply_policies")
		}
	}
	return Carried{ids, c.Policies}.Burden().Refuse()
}

// Grants reports whether a session names an API, in its own rights or in one of its policies.
// A policy that is not in policies counts as naming one.
func Grants(session *doc.Node, policies map[string]policy.Policy) bool {
	if session.Get("access_rights").Len() > 0 {
		return true
	}
	return slices.ContainsFunc(Policies(session), func(id string) bool {
		p, known := policies[id]
		if !known {
			return true
		}
		n, err := p.Node()
		if err != nil { // stored policies are JSON
			return true
		}
		apis, _ := Gives(n)
		return len(apis) > 0
	})
}

// Grants reports whether the session of a draft names an API; see Grants.
func (d Draft) Grants(policies map[string]policy.Policy) bool { return Grants(d.node, policies) }

// rights refuses a key that names no API, itself or through its policies, unless such keys are
// allowed: gateways may let it use every API (docs/wire/keys.md#rules).
func (c Checks) rights(s, old *doc.Node) error {
	if c.Master || Grants(s, c.Policies) || len(Policies(s)) > 0 && slices.Equal(Policies(s), Policies(old)) { // unchanged policies are allowed even if they give no rights any more
		return nil
	}
	if len(Policies(s)) > 0 {
		return fault.New(fault.Invalid, CodeRights, "keys must have at least one Access Rights record set: name an API in access_rights, since the policies in apply_policies name none").At("apply_policies")
	}
	return fault.New(fault.Invalid, CodeRights, "keys must have at least one Access Rights record set: name an API in access_rights, or a policy in apply_policies").At("access_rights")
}

// Limits of names that clients choose.
const (
	minName = 3 // characters; gateways refuse shorter ones
	maxName = 256
)

// ControlPaths are paths of operations in a gateway's control API at the place of a key's
// identifier, so a key with such an identifier cannot be reached.
var ControlPaths = []string{"create", "preview", "policy"}

// CheckName refuses an identifier of a key, or a user name, that gateways would not find
// again. It also refuses one that would make a key of another organisation, because gateways
// write it into a JSON text without escaping.
func CheckName(name string) error {
	n := utf8.RuneCountInString(name)
	switch {
	case n < minName || n > maxName:
		return fault.New(fault.Invalid, CodeName, "the name of a key or user has %d to %d characters", minName, maxName)
	case !utf8.ValidString(name) || strings.ContainsAny(name, `/\"`) || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || label.Turns(r) }):
		return fault.New(fault.Invalid, CodeName, "the name of a key or user has no slashes, quotes, blanks or control characters")
	}
	return nil
}

// View is a session in its form for clients.
type View struct{ node *doc.Node }

// Shown returns a session in its form for clients. Passwords are never shown. Signing secrets
// are shown only with fresh, to the client that has just made the key.
func Shown(s *doc.Node, fresh bool) View {
	out := s.Clone()
	out.Delete("basic_auth_data", "password")
	if !fresh {
		out.Delete("hmac_string")
		out.Delete("jwt_data", "secret")
	}
	if v := out.Get("date_created"); v.Is(doc.TypeString) {
		if t, err := time.Parse(time.RFC3339Nano, v.Text()); err == nil && t.IsZero() {
			out.Delete("date_created")
		}
	}
	return View{out}
}

// AppendJSON implements doc.Appender.
func (v View) AppendJSON(b []byte) ([]byte, error) { return v.node.AppendJSON(b) }

// MarshalJSON implements json.Marshaler.
func (v View) MarshalJSON() ([]byte, error) { return v.node.AppendJSON(nil) }
