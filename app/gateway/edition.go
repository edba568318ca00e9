package gateway

import (
	"runtime"
	"slices"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/compress"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// block is a run of consecutive entries of a feed, joined and compressed as a unit. An
// unchanged block is reused.
type block struct {
	entries []*entry
	text    compress.Part
}

// blockEntries is how many entries a block has on average. Whether an entry is the
// first of a block depends only on the entry, so that an added or removed entry moves
// no other block.
const blockEntries = 32

// blocks cuts entries into blocks. It compresses the new ones in parallel.
func blocks(list []*entry, c compress.Coding) []*block {
	var out, fresh []*block
	for len(list) > 0 {
		n := 1
		for n < len(list) && !list[n].first {
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
			for _, b := range part {
				b.text = c.Pack(b.join())
			}
		})
	}
	all.Wait()
	return out
}

// join returns the text of a block. Afterwards the texts of its entries are slices of
// it, so that there is one copy.
func (b *block) join() []byte {
	size := len(b.entries)
	for _, e := range b.entries {
		size += len(e.text)
	}
	text := make([]byte, 0, size)
	for i, e := range b.entries {
		if i > 0 {
			text = append(text, ',')
		}
		at := len(text)
		text = append(text, e.text...)
		e.text, e.in = text[at:len(text):len(text)], b
	}
	return text
}

// edition is a feed at one revision: the whole response except the nonce. It is
// immutable.
type edition struct {
	rev    store.Revision
	text   compress.Opening // up to the nonce
	counts map[tenant.ID]int
	left   []feed.LeftOut
}

// newEdition makes an edition from blocks.
func newEdition(blocks []*block, left []feed.LeftOut, c compress.Coding) *edition {
	e := &edition{counts: map[tenant.ID]int{}, left: left}
	parts, comma := []compress.Part{c.Pack([]byte(`{"Status":"OK","Message":[`))}, c.Pack([]byte(","))
	for i, b := range blocks {
		if i > 0 {
			parts = append(parts, comma)
		}
		parts = append(parts, b.text)
		for list := b.entries; len(list) > 0; { // one organisation at a time: most have many entries
			n := 1
			for n < len(list) && list[n].org == list[0].org {
				n++
			}
			e.counts[list[0].org] += n
			list = list[n:]
		}
	}
	e.text = c.Join(append(parts, c.Pack([]byte(`],"Nonce":"`))))
	return e
}

// answer is the response to one node: the shared edition and a tail of its own.
type answer struct {
	*edition
	tail []byte
}

// Stream implements operation.Stream.
func (a answer) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	plain, gzipped = a.text.Close(a.tail)
	return "application/json", "", plain, gzipped
}
