// Package compress is the port to a compression of responses. A response is made of parts that
// are compressed separately: a part that does not change is compressed only once, even when
// other parts change.
package compress

// Part is a text with its compressed form. Neither ever changes, because responses share them.
// Sum is a checksum of Plain; its algorithm is that of the Coding.
type Part struct {
	Plain, Packed []byte
	Sum           uint32
}

// Coding is a compression. It is safe for concurrent use.
type Coding interface {
	// Pack compresses text. The returned Part keeps text: the caller must not change it.
	Pack(text []byte) Part
	// Join returns the beginning of responses that start with these parts, in their order.
	Join(parts []Part) Opening
}

// Opening is the common beginning of several responses. It never changes.
type Opening interface {
	// Close returns the pieces of a response that ends with tail, plain and compressed. Its cost
	// depends only on the length of tail.
	Close(tail []byte) (plain, packed [][]byte)
}
