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

// block is some entries that stand one after the other in a feed, joined and
// compressed on their own: one that did not change is used again as it is.
type block struct {
	entries []*entry
	text    compress.Part
}

// blockEntries is how many entries a block has on average. Whether an entry is
// the first of a block depends on itself alone, so that one more or one less
// moves no other block.
const blockEntries = 32

// blocks cuts entries into blocks; those that are new are made side by side.
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

// join returns the text of a block. Its entries point into it from then on, so
// that there is one copy.
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

// edition is a feed at one revision: everything of an answer but the nonce. It
// never changes.
type edition struct {
	rev    store.Revision
	text   compress.Opening // up to the nonce
	counts map[tenant.ID]int
	left   []feed.LeftOut
}

// newEdition makes a feed of blocks.
func newEdition(blocks []*block, left []feed.LeftOut, c compress.Coding) *edition {
	e := &edition{counts: map[tenant.ID]int{}, left: left}
	parts, comma := []compress.Part{c.Pack([]byte(`{"Status":"OK","Message":[`))}, c.Pack([]byte(","))
	for i, b := range blocks {
		if i > 0 {
			parts = append(parts, comma)
		}
		parts = append(parts, b.text)
		for list := b.entries; len(list) > 0; { // organisation by organisation, most of which have many
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

// answer is a feed for one node: the shared edition and a tail of its own.
type answer struct {
	*edition
	tail []byte
}

// Stream implements operation.Stream.
func (a answer) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	plain, gzipped = a.text.Close(a.tail)
	return "application/json", "", plain, gzipped
}
