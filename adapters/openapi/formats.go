package openapi

import (
	"errors"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
)

// formats are the text formats that schemas name.
var formats = map[string]func(any) error{
	"uri-reference": func(v any) error { _, err := address(v); return err },
	"uri":           absolute,
	"email":         email,
}

// secretReference matches the part of an address that gateways fill in when they load
// the API, and ${…}, which streams fill in (docs/wire/extension.md#references).
var secretReference = regexp.MustCompile(`\$(kv)?\{[^}]*\}`)

var (
	errAddress  = errors.New("the address is malformed")
	errRelative = errors.New("an absolute address is needed")
	errEmail    = errors.New("the e-mail address is malformed")
)

// address parses an address that may be relative and may contain secret references. Its
// errors do not quote the value, which may contain a password.
func address(v any) (*url.URL, error) {
	text, ok := v.(string)
	if !ok {
		return &url.URL{Scheme: "none"}, nil
	}
	if loop, ok := strings.CutPrefix(text, "tyk://id:"); ok { // an API by its identifier, which a URL parser would take for a port
		text = "tyk://" + loop
	}
	u, err := url.Parse(secretReference.ReplaceAllString(text, "secret"))
	if err != nil || strings.ContainsRune(text, '\\') {
		return nil, errAddress
	}
	return u, nil
}

// absolute is address for a URL that must have a scheme, unless a secret reference
// stands for it.
func absolute(v any) error {
	u, err := address(v)
	if err != nil {
		return err
	}
	if text, _ := v.(string); !u.IsAbs() && !strings.HasPrefix(text, "$") {
		return errRelative
	}
	return nil
}

func email(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
		return errEmail
	}
	return nil
}
