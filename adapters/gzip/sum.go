package gzip

import "hash/crc32"

// joined returns the checksum of two texts that follow each other, computed from their
// checksums and the length of the second text. A checksum is a polynomial over GF(2)
// modulo the IEEE 802.3 polynomial: the first is multiplied by x to the power of the
// number of bits that follow, and the second is added. The cost grows with the
// logarithm of the length.
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

// times multiplies two polynomials. The highest bit holds the lowest power.
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
