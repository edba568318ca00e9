package certificate

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// CodeInvalid is the code of the fault of a text without a certificate that gateways can use.
const CodeInvalid = "certificate.invalid"

// Limits of an upload. Chains of real certificates are far below them.
const (
	MaxText   = 256 << 10 // bytes of PEM
	maxBlocks = 32
	maxKey    = 8 << 10 // bytes of DER of a private or public key: an RSA key of 8192 bits has 4.8 KiB
	maxBits   = 8192    // of an RSA key; TLS of gateways refuses longer ones
)

// Bundle is an upload: one certificate, perhaps with its chain and its private key, or one
// public key.
type Bundle struct {
	Meta
	// Text is the normalised PEM: only the certificate, its chain and the private key.
	Text []byte
}

// Types of PEM blocks.
const (
	typeCertificate = "CERTIFICATE"
	typePublic      = "PUBLIC KEY"
	typeParameters  = "EC PARAMETERS" // before keys that some tools make; not needed
)

// privateTypes are the types of blocks with a private key, and their parsers.
var privateTypes = map[string]func([]byte) (any, error){
	"PRIVATE KEY":     x509.ParsePKCS8PrivateKey,
	"RSA PRIVATE KEY": func(der []byte) (any, error) { return x509.ParsePKCS1PrivateKey(der) },
	"EC PRIVATE KEY":  func(der []byte) (any, error) { return x509.ParseECPrivateKey(der) },
}

func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, CodeInvalid, format, args...)
}

// Parse reads an upload for an organisation. The first certificate is the main one, as in TLS;
// the others are its chain.
func Parse(org tenant.ID, text []byte) (Bundle, error) {
	blocks, err := split(text)
	if err != nil {
		return Bundle{}, err
	}
	var b Bundle
	switch {
	case len(blocks.certificates) > 0:
		b.Meta, err = blocks.certificate()
	case blocks.public != nil:
		b.Meta, err = publicKey(blocks.public.Bytes)
	case blocks.private != nil:
		return b, invalid("a private key alone is no certificate: send the certificate in front of it")
	default:
		return b, invalid("Failed to decode certificate. It should be PEM encoded.")
	}
	if err != nil {
		return Bundle{}, err
	}
	b.ID = string(org) + b.Fingerprint
	var out bytes.Buffer // the blocks in the order in which gateways read them
	for _, block := range append(blocks.certificates[:len(blocks.certificates):len(blocks.certificates)], blocks.private, blocks.public) {
		if block == nil {
			continue
		}
		out.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
	}
	b.Text = out.Bytes()
	return b, nil
}

// blocks are the blocks of an upload by purpose.
type blocks struct {
	certificates    []*pem.Block
	private, public *pem.Block
}

// split returns the blocks of a text. It ignores text between them.
func split(text []byte) (b blocks, err error) {
	if len(text) > MaxText {
		return b, invalid("a certificate with its chain and key may have %d KiB; this has %d KiB", MaxText>>10, (len(text)+1023)>>10)
	}
	for n := 1; ; n++ {
		block, rest := pem.Decode(text)
		if block == nil {
			return b, nil
		}
		if n > maxBlocks {
			return b, invalid("a chain may have %d blocks", maxBlocks)
		}
		text = rest
		_, private := privateTypes[block.Type]
		switch {
		case private && strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"), block.Type == "ENCRYPTED PRIVATE KEY":
			return b, invalid("the private key has a passphrase: decrypt it before you send it")
		case private && b.private != nil:
			return b, invalid("there are two private keys: send the one of the certificate")
		case private:
			b.private = block
		case block.Type == typeCertificate:
			b.certificates = append(b.certificates, block)
		case block.Type == typePublic && b.public != nil:
			return b, invalid("there are two public keys: send one at a time")
		case block.Type == typePublic:
			b.public = block
		case block.Type != typeParameters:
			return b, invalid("a block of the type %.40q is neither a certificate, nor a private key, nor a public key", block.Type)
		}
	}
}

// certificate parses the first certificate, with its private key if there is one.
func (b *blocks) certificate() (Meta, error) {
	if b.public != nil {
		return Meta{}, invalid("a certificate and a public key cannot be uploaded together: send one at a time")
	}
	for _, block := range b.certificates[1:] {
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return Meta{}, unreadable("a certificate of the chain", err)
		}
	}
	der := b.certificates[0].Bytes
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return Meta{}, unreadable("the certificate", err)
	}
	if err := check(c.PublicKey); err != nil {
		return Meta{}, err
	}
	if b.private != nil {
		// The private key must be the one of the certificate. The errors say nothing of the key.
		if len(b.private.Bytes) > maxKey {
			return Meta{}, invalid("the private key is too long: keys may have %d bits", maxBits)
		}
		key, err := privateTypes[b.private.Type](b.private.Bytes)
		if err != nil {
			return Meta{}, invalid("the private key cannot be read: send it in PKCS#8, PKCS#1 or SEC 1 form")
		}
		signer, ok := key.(crypto.Signer)
		if !ok {
			return Meta{}, invalid("the private key cannot sign: send the one of the certificate")
		}
		if same, ok := signer.Public().(interface{ Equal(crypto.PublicKey) bool }); !ok || !same.Equal(c.PublicKey) {
			return Meta{}, invalid("the private key is not the one of the certificate: the first certificate must be the one that the key belongs to")
		}
	}
	return Meta{
		Fingerprint: fingerprint(der), HasPrivate: b.private != nil, Issuer: c.Issuer, Subject: c.Subject,
		NotBefore: c.NotBefore.UTC(), NotAfter: c.NotAfter.UTC(), DNSNames: append([]string{}, c.DNSNames...), IsCA: c.IsCA,
	}, nil
}

// unreadable returns the fault for a part that cannot be parsed. Errors about certificates
// contain no secrets.
func unreadable(what string, err error) error {
	return invalid("%s cannot be read: %s", what, strings.TrimPrefix(err.Error(), "x509: "))
}

// publicKey parses a bare public key. It has no owner and no expiry. Its name is made from its
// fingerprint, so that lists can show one.
func publicKey(der []byte) (Meta, error) {
	if len(der) > maxKey {
		return Meta{}, invalid("the public key is too long: keys may have %d bits", maxBits)
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return Meta{}, unreadable("the public key", err)
	}
	if err := check(key); err != nil {
		return Meta{}, err
	}
	f := fingerprint(der)
	return Meta{Fingerprint: f, Subject: pkix.Name{CommonName: "Public Key: " + f}, DNSNames: []string{}}, nil
}

// check refuses public keys that gateways cannot use.
func check(key crypto.PublicKey) error {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if k.N.BitLen() > maxBits {
			return invalid("an RSA key may have %d bits; this has %d", maxBits, k.N.BitLen())
		}
	case *ecdsa.PublicKey, ed25519.PublicKey:
	default:
		return invalid("keys must be of the type RSA, ECDSA or Ed25519")
	}
	return nil
}

// fingerprint returns the SHA-256 of a DER in lower-case hex.
func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// ValidID reports whether a text can be the identifier of a certificate of an organisation.
func ValidID(org tenant.ID, id string) bool {
	rest, ok := strings.CutPrefix(id, string(org))
	if !ok || len(rest) != 2*sha256.Size {
		return false
	}
	return strings.Trim(rest, "0123456789abcdef") == ""
}

// OrgOf returns the organisation in the identifier of a certificate; "" for another text, such
// as the path of a file.
func OrgOf(id string) tenant.ID {
	at := len(id) - 2*sha256.Size
	if at <= 0 || !ValidID(tenant.ID(id[:at]), id) || strings.ContainsAny(id[:at], "\x00/") {
		return ""
	}
	return tenant.ID(id[:at])
}
