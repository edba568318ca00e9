// Package redact has the only list of secrets: the names of members, headers and parameters
// that hold secrets, and the places of credentials in texts. All code that writes logs uses
// it.
package redact

import (
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden replaces a secret in a log.
const Hidden = "***"

// parts are texts in the names of members that hold secrets.
var parts = []string{
	"password", "passwd", "passphrase", "pwhistory", "secret", "token", "credential", "accesskey", "apikey", "authkey",
	"privatekey", "authorization", "authorisation", "cookie", "bearer", "jwtsource", "hmacstring",
}

// whole are names that hold secrets only if the whole name is equal. The source of a scheme
// for JSON web tokens is the key itself, or the place of the key.
var whole = []string{"key", "adminauth", "source", "dsn", "pin", "pwd", "digest"}

// signatures are parameters of addresses that work as credentials. Members of other documents
// have the same names, and are no secrets.
var signatures = []string{"sig", "signature", "xamzsignature", "xgoogsignature", "sas", "code", "jwt", "otp", "hmac", "nonce", "sessionid"}

// harmless are names of facts about a password that do not contain the password.
var harmless = []string{"passwordmaxdays", "passwordupdated"}

// Name reports whether a member, a header or a parameter of this name holds a
// secret, in any spelling.
func Name(name string) bool {
	name = Fold(name)
	if strings.HasSuffix(name, "pass") && !strings.HasSuffix(name, "bypass") { // db_pass
		return true
	}
	if slices.Contains(harmless, name) {
		return false
	}
	return slices.Contains(whole, name) || slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// longestLine is how many characters a Line has at most.
const longestLine = 200

// Line returns a text of another server for errors and logs: in one line, with blanks in place
// of characters that cannot be printed, and cut after 200 characters.
func Line(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > longestLine {
		return string(runes[:longestLine]) + "…"
	}
	return text
}

// longest is the maximum length in characters of a word that is always shown: identifiers of
// records have 24 and 32, keys 32 and more.
const longest = 31

// Opaque reports whether a word looks like a key: it is long, has digits, and is not an
// address.
func Opaque(word string) bool {
	return len(word) > longest && strings.ContainsAny(word, "0123456789") && !strings.Contains(word, "://") && !strings.HasPrefix(word, "/")
}

// Fold returns one text for all spellings of a name: access_key, Access-Key, accessKey.
func Fold(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r < 'a' || r > 'z' }) < 0 { // there is no other spelling
		return name
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// plain are headers that contain no secrets.
var plain = []string{"accept", "contenttype", "contentlength", "ifmatch", "ifnonematch", "useragent"}

// Headers reports whether a member of this name holds headers. Only the receiver of the
// headers knows which of them carry credentials.
func Headers(name string) bool { return strings.Contains(Fold(name), "header") }

// Header reports whether the value of a header may be a secret.
func Header(name string) bool { return !slices.Contains(plain, Fold(name)) }

// In addresses, credentials are before the host and in the query; also in addresses without a
// scheme, which are refused and logged.
var (
	beforeHost = regexp.MustCompile(`(://)([^/?#\s"']*)@`)
	schemeless = regexp.MustCompile(`(^|[\s"'=])([^/?#\s"'=]*:[^/?#\s"']*)@`)
	inQuery    = regexp.MustCompile(`([?&;])([A-Za-z0-9_.~%-]+)=([^&;#\s"']*)`)
)

// Text returns a text without the credentials in the addresses that it contains.
func Text(text string) string {
	if !strings.ContainsAny(text, "@=") {
		return text
	}
	text = beforeHost.ReplaceAllString(text, "${1}"+Hidden+"@")
	text = schemeless.ReplaceAllString(text, "${1}"+Hidden+"@")
	return inQuery.ReplaceAllStringFunc(text, func(param string) string {
		if name, _, _ := strings.Cut(param[1:], "="); Name(decoded(name)) {
			return param[:1] + name + "=" + Hidden
		}
		return param
	})
}

// Query returns a query as it was sent, without the values of parameters for which hides
// returns true, and without the credentials in addresses that are values. The rest keeps its
// order and its spelling.
func Query(raw string, hides func(name string) bool) string {
	var out strings.Builder
	for raw != "" {
		param, end := raw, strings.IndexAny(raw, "&;")
		if end < 0 {
			raw = ""
		} else {
			param, raw = raw[:end], raw[end:]
		}
		name, value, ok := strings.Cut(param, "=")
		switch plain, err := url.QueryUnescape(name); {
		case !ok:
			out.WriteString(masked(name))
		case err != nil || hides(plain) || slices.Contains(signatures, Fold(plain)): // a name that cannot be decoded may be that of a secret
			out.WriteString(masked(name) + "=" + Hidden)
		default:
			out.WriteString(masked(name) + "=" + masked(value))
		}
		if raw != "" {
			out.WriteByte(raw[0])
			raw = raw[1:]
		}
	}
	return out.String()
}

// masked returns an encoded text without the credentials in the addresses that it contains.
func masked(encoded string) string {
	plain := decoded(encoded)
	text := Text(plain)
	if text == plain {
		return encoded
	}
	return strings.ReplaceAll(url.QueryEscape(text), url.QueryEscape(Hidden), Hidden)
}

// decoded returns a text with its escapes decoded where possible: a malformed escape stays as
// it is, and the escapes beside it are decoded.
func decoded(encoded string) string {
	if !strings.ContainsAny(encoded, "%+") {
		return encoded
	}
	var out strings.Builder
	for i := 0; i < len(encoded); i++ {
		switch c := encoded[i]; {
		case c == '+':
			out.WriteByte(' ')
		case c == '%' && i+2 < len(encoded):
			b, err := hex.DecodeString(encoded[i+1 : i+3])
			if err != nil {
				out.WriteByte(c)
				continue
			}
			out.WriteByte(b[0])
			i += 2
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// Credentials returns the credentials in the addresses of a text: user and password
// together, the password alone, secret parameters.
func Credentials(text string) (out []string) {
	for _, m := range append(beforeHost.FindAllStringSubmatch(text, -1), schemeless.FindAllStringSubmatch(text, -1)...) {
		out = append(out, m[2])
		if _, password, ok := strings.Cut(m[2], ":"); ok {
			out = append(out, password)
		}
	}
	for _, m := range inQuery.FindAllStringSubmatch(text, -1) {
		if Name(decoded(m[2])) {
			out = append(out, m[3])
		}
	}
	return out
}
