// Package gzip compresses answers part by part: a gzip stream (RFC 1952) of DEFLATE
// blocks (RFC 1951), none of which refers to bytes outside its part.
package gzip

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/gatehouse-io/gatehouse/ports/compress"
)

// Coding implements the port. The zero Coding is ready to use.
type Coding struct{ packers sync.Pool }

// packer is a compressor, which is large, with its output buffer.
type packer struct {
	w   *flate.Writer
	out bytes.Buffer
}

// short is the length in bytes below which compression is not worthwhile.
const short = 32

// Pack implements the port. The blocks of a part end at a byte boundary.
func (c *Coding) Pack(text []byte) compress.Part {
	if len(text) <= short {
		return compress.Part{Plain: text, Packed: stored(text, false), Sum: crc32.ChecksumIEEE(text)}
	}
	p, _ := c.packers.Get().(*packer)
	if p == nil {
		p = &packer{}
		p.w, _ = flate.NewWriter(&p.out, flate.DefaultCompression) // fails for unknown levels only
	} else {
		p.out.Reset()
		p.w.Reset(&p.out)
	}
	defer c.packers.Put(p)
	_, _ = p.w.Write(text) // writing to a bytes.Buffer cannot fail
	_ = p.w.Flush()        // as above
	return compress.Part{Plain: text, Packed: bytes.Clone(p.out.Bytes()), Sum: crc32.ChecksumIEEE(text)}
}

// header opens a gzip stream without name or time (RFC 1952, 2.3).
var header = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// opening is the beginning of a text, with the gzip stream that holds it.
type opening struct {
	plain, packed [][]byte
	sum           uint32 // CRC-32 of plain
	size          int    // of plain
}

// Join implements the port.
func (c *Coding) Join(parts []compress.Part) compress.Opening {
	o := &opening{plain: make([][]byte, 0, len(parts)), packed: append(make([][]byte, 0, len(parts)+1), header)}
	for _, p := range parts {
		o.plain, o.packed = append(o.plain, p.Plain), append(o.packed, p.Packed)
		o.sum, o.size = joined(o.sum, p.Sum, len(p.Plain)), o.size+len(p.Plain)
	}
	return o
}

// Close implements the port: the stream ends with the checksum and the length of the
// whole.
func (o *opening) Close(tail []byte) (plain, packed [][]byte) {
	b := stored(tail, true)
	b = binary.LittleEndian.AppendUint32(b, crc32.Update(o.sum, crc32.IEEETable, tail))
	b = binary.LittleEndian.AppendUint32(b, uint32(o.size+len(tail)))
	return append(slices.Clip(o.plain), tail), append(slices.Clip(o.packed), b)
}

// most is the length in bytes of the longest stored block.
const most = 1<<16 - 1

// stored wraps a text uncompressed (RFC 1951, 3.2.4); last marks the final block of the
// stream.
func stored(text []byte, last bool) []byte {
	out := make([]byte, 0, len(text)+16)
	for {
		n := min(len(text), most)
		final := byte(0)
		if last && n == len(text) {
			final = 1
		}
		out = binary.LittleEndian.AppendUint16(append(out, final), uint16(n))
		out = append(binary.LittleEndian.AppendUint16(out, ^uint16(n)), text[:n]...)
		if text = text[n:]; len(text) == 0 {
			return out
		}
	}
}
