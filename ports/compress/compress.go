// Package compress is the port to what makes answers smaller. They are made of parts
// that are compressed one by one, so that a part that stays is compressed once,
// whatever becomes of the others.
package compress

// Part is a text, and the same compressed on its own. Neither ever changes: answers
// share them. Sum is a checksum of Plain, which is the coding's own.
type Part struct {
	Plain, Packed []byte
	Sum           uint32
}

// Coding compresses. Several goroutines may use one at the same time.
type Coding interface {
	// Pack compresses a text, which the part keeps.
	Pack(text []byte) Part
	// Join makes of parts, in their order, what answers begin with.
	Join(parts []Part) Opening
}

// Opening is what several answers begin with. It never changes.
type Opening interface {
	// Close returns the pieces of an answer that ends with tail, plain and
	// compressed. It costs as much as tail is long, whatever came before.
	Close(tail []byte) (plain, packed [][]byte)
}
