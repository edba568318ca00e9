package gateway

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"hash/maphash"
	"runtime"
	"slices"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/registry/feed"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// block is some entries that stand one after the other in a feed, joined and
// compressed on their own: one that did not change is used again as it is.
type block struct {
	entries []*entry
	plain   []byte
	packed  []byte // DEFLATE blocks that refer to nothing before them and end on a byte
}

// blockEntries is how many entries a block has on average. Whether an entry is
// the first of a block depends on itself alone, so that one more or one less
// moves no other block.
const blockEntries = 32

func first(e *entry) bool { return maphash.String(seed, e.id)%blockEntries == 0 }

// blocks cuts entries into blocks; those that are new are made side by side.
func blocks(list []*entry) []*block {
	var out, fresh []*block
	for len(list) > 0 {
		n := 1
		for n < len(list) && !first(list[n]) {
			n++
		}
		if b := list[0].in; b != nil && slices.Equal(b.entries, list[:n]) {
			out = append(out, b)
		} else {
			b = &block{entries: slices.Clone(list[:n])}
			out, fresh = append(out, b), append(fresh, b)
		}
		list = list[n:]
	}
	var all sync.WaitGroup
	share := (len(fresh) + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	for part := range slices.Chunk(fresh, max(1, share)) {
		all.Go(func() {
			var p packer
			for _, b := range part {
				b.join()
				b.packed = p.pack(b.plain)
			}
		})
	}
	all.Wait()
	return out
}

// join makes the text of a block. Its entries point into it from then on, so
// that there is one copy.
func (b *block) join() {
	size := len(b.entries)
	for _, e := range b.entries {
		size += len(e.text)
	}
	b.plain = make([]byte, 0, size)
	for i, e := range b.entries {
		if i > 0 {
			b.plain = append(b.plain, ',')
		}
		at := len(b.plain)
		b.plain = append(b.plain, e.text...)
		e.text, e.in = b.plain[at:len(b.plain):len(b.plain)], b
	}
}

// edition is a feed at one revision: everything of an answer but the nonce. It
// never changes.
type edition struct {
	rev           store.Revision
	plain, packed [][]byte // up to the nonce; packed begins a gzip stream
	sum           uint32   // CRC-32 of plain
	size          int      // of plain
	counts        map[tenant.ID]int
	left          []feed.LeftOut
}

// newEdition makes a feed of blocks.
func newEdition(blocks []*block, left []feed.LeftOut) *edition {
	e := &edition{packed: [][]byte{gzipHeader}, counts: map[tenant.ID]int{}, left: left}
	e.short(`{"Status":"OK","Message":[`)
	for i, b := range blocks {
		if i > 0 {
			e.short(",")
		}
		e.add(b.plain, b.packed)
		for _, en := range b.entries {
			e.counts[en.org]++
		}
	}
	e.short(`],"Nonce":"`)
	return e
}

func (e *edition) add(plain, packed []byte) {
	e.plain, e.packed = append(e.plain, plain), append(e.packed, packed)
	e.sum, e.size = crc32.Update(e.sum, crc32.IEEETable, plain), e.size+len(plain)
}

// short adds what is not worth compressing.
func (e *edition) short(s string) { e.add([]byte(s), storedBlock([]byte(s), false)) }

// gzipHeader opens a gzip stream without name or time (RFC 1952, 2.3).
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// storedBlock wraps up to 65,535 bytes as they are (RFC 1951, 3.2.4).
func storedBlock(b []byte, last bool) []byte {
	out := make([]byte, 1, len(b)+5)
	if last {
		out[0] = 1
	}
	out = binary.LittleEndian.AppendUint16(out, uint16(len(b)))
	out = binary.LittleEndian.AppendUint16(out, ^uint16(len(b)))
	return append(out, b...)
}

// packer compresses texts, each on its own. The zero packer is ready to use.
type packer struct{ w *flate.Writer }

func (p *packer) pack(text []byte) []byte {
	var out bytes.Buffer
	if p.w == nil {
		p.w, _ = flate.NewWriter(&out, flate.DefaultCompression) // fails for unknown levels only
	} else {
		p.w.Reset(&out)
	}
	_, _ = p.w.Write(text) // a buffer takes everything
	_ = p.w.Flush()        // as above
	return bytes.Clone(out.Bytes())
}

// answer is a feed for one node: the shared edition and a tail of its own.
type answer struct {
	*edition
	tail []byte
}

func (e *edition) answer(nonce string) answer { return answer{e, []byte(nonce + `"}`)} }

// Stream implements operation.Stream.
func (a answer) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	return "application/json", "", append(slices.Clip(a.plain), a.tail), append(slices.Clip(a.packed), a.closing())
}

// closing adds the tail to the compressed beginning, and the checksum and length
// of the whole.
func (a answer) closing() []byte {
	b := storedBlock(a.tail, true)
	b = binary.LittleEndian.AppendUint32(b, crc32.Update(a.sum, crc32.IEEETable, a.tail))
	return binary.LittleEndian.AppendUint32(b, uint32(a.size+len(a.tail)))
}
