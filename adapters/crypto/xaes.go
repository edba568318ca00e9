package crypto

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
)

// xaesNonce is the size of a nonce of XAES-256-GCM in bytes: large enough for random
// nonces, for any number of messages.
const xaesNonce = 24

// xaes is XAES-256-GCM as C2SP specifies it: the key and the first half of a nonce are
// derived into a key of AES-256-GCM for this nonce alone. The nonces of AES-GCM by
// itself have 96 bits, which is too few for random nonces of all the documents that a
// key protects in its life.
type xaes struct {
	block cipher.Block
	k1    [aes.BlockSize]byte
}

func newXAES(key []byte) (*xaes, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	x := &xaes{block: block}
	block.Encrypt(x.k1[:], x.k1[:])
	var carry byte
	for i := len(x.k1) - 1; i >= 0; i-- {
		b := x.k1[i]
		x.k1[i], carry = b<<1|carry, b>>7
	}
	x.k1[len(x.k1)-1] ^= carry * 0x87
	return x, nil
}

// under returns the AEAD for a nonce, and the rest of the nonce, which that AEAD takes.
func (x *xaes) under(nonce []byte) (cipher.AEAD, []byte, error) {
	var key [32]byte
	copy(key[:], []byte{0, 1, 'X', 0})
	copy(key[4:16], nonce[:12])
	copy(key[16:], []byte{0, 2, 'X', 0})
	copy(key[20:], nonce[:12])
	for half := key[:]; len(half) > 0; half = half[aes.BlockSize:] {
		subtle.XORBytes(half[:aes.BlockSize], half[:aes.BlockSize], x.k1[:])
		x.block.Encrypt(half[:aes.BlockSize], half[:aes.BlockSize])
	}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, nil, err
	}
	aead, err := cipher.NewGCM(block)
	return aead, nonce[12:xaesNonce], err
}

// seal appends the encrypted text to out.
func (x *xaes) seal(out, nonce, plain, more []byte) ([]byte, error) {
	aead, rest, err := x.under(nonce)
	if err != nil {
		return nil, err
	}
	return aead.Seal(out, rest, plain, more), nil
}

// open appends the decrypted text to out.
func (x *xaes) open(out, nonce, sealed, more []byte) ([]byte, error) {
	aead, rest, err := x.under(nonce)
	if err != nil {
		return nil, err
	}
	return aead.Open(out, rest, sealed, more)
}
