package apps

import (
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
)

// CodeSealed is the fault code for a secret that no encryption key can open.
const CodeSealed = "portal_access.sealed"

func locked(err error) error {
	return fault.New(fault.Unavailable, CodeSealed, "the secrets of the credential cannot be opened: configure the encryption key").Because(err)
}

// opened returns the values of a stored credential.
func (s *Service) opened(c credential.Credential) (v credential.Values, err error) {
	v = credential.Values{Public: c.Public, Expires: c.Expires}
	if c.Sealed == "" || c.Sealed == "sealed" { // the secret of an example
		return v, nil
	}
	text, _, err := s.Secrets.Open(c.Sealed)
	if err == nil {
		err = json.Unmarshal([]byte(text), &v.Secrets)
	}
	if err != nil {
		err = locked(err)
	}
	return v, err
}

// filled returns a credential with the values that an issuer gave it.
func (s *Service) filled(c credential.Credential, v credential.Values) (credential.Credential, error) {
	text, err := json.Marshal(v.Secrets)
	if err != nil {
		return c, err
	}
	c.Public, c.Expires = v.Public, v.Expires
	c.Sealed, err = s.Secrets.Seal(string(text))
	return c, err
}

// subscription returns an access request with its secret in plain text.
func (s *Service) subscription(r request.Request) (request.Request, error) {
	if r.SealedSecret == "" {
		return r, nil
	}
	text, _, err := s.Secrets.Open(r.SealedSecret)
	if err != nil {
		return r, locked(err)
	}
	r.WebhookSecret = text
	return r, nil
}
