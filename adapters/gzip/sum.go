package gzip

import "hash/crc32"

// joined returns the checksum of two texts that follow each other, made of theirs and
// of the length of the second. A checksum is a polynomial over GF(2) modulo that of
// IEEE 802.3: the first is multiplied by x to the power of the bits that follow it, and
// the second is added. It costs as much as the length has binary digits.
func joined(a, b uint32, length int) uint32 {
	for k := 0; length > 0; k, length = k+1, length>>1 {
		if length&1 != 0 {
			a = times(a, powers[k])
		}
	}
	return a ^ b
}

// powers are x to the power of 8 times 2 to the power of k.
var powers = func() (p [64]uint32) {
	p[0] = 1 << (31 - 8)
	for k := 1; k < len(p); k++ {
		p[k] = times(p[k-1], p[k-1])
	}
	return p
}()

// times multiplies two polynomials, whose lowest powers are the highest bits.
func times(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a>>31 != 0 {
			product ^= b
		}
		carry := b & 1
		if b >>= 1; carry != 0 {
			b ^= crc32.IEEE
		}
	}
	return product
}
