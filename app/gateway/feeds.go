// Package gateway holds the use cases of gateway nodes: they register, show
// that they live, and fetch what they serve (contract gateway.md).
package gateway

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Source makes the content of one feed out of one snapshot.
type Source struct {
	Name string // "clientidps"
	Kind string // of the records it is made of; "" while there is none of them
	// Append appends the feed, a JSON array; nil means that it is empty.
	Append func(ctx context.Context, r store.Reader, b []byte) ([]byte, error)
}

// feed keeps the encoded form of a source. It is made once for each revision,
// and shared by every node that asks.
type feed struct {
	source Source
	mu     sync.Mutex
	last   *edition
}

// edition is a feed at one revision: everything of an answer but the nonce.
type edition struct {
	rev    store.Revision
	plain  []byte // up to the nonce
	packed []byte // the same as the beginning of a gzip stream
	sum    uint32 // CRC-32 of plain
}

// current returns the feed as it is now, or as last known while the store is
// away: a gateway that starts then still gets what it needs.
func (f *feed) current(ctx context.Context, st store.Store) (e *edition, stale bool, err error) {
	stale, err = store.ViewLastKnown(ctx, st, tenant.Everyone("gateway feed"), func(r store.Reader) error {
		e, err = f.at(ctx, r)
		return err
	})
	return e, stale, err
}

func (f *feed) at(ctx context.Context, r store.Reader) (*edition, error) {
	var rev store.Revision
	if f.source.Kind != "" {
		var err error
		if rev, err = r.Touched(ctx, f.source.Kind); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != nil && f.last.rev == rev {
		return f.last, nil
	}
	e, err := f.encode(ctx, r, rev)
	if err == nil && (f.last == nil || rev > f.last.rev) {
		f.last = e
	}
	return e, err
}

func (f *feed) encode(ctx context.Context, r store.Reader, rev store.Revision) (*edition, error) {
	b := []byte(`{"Status":"OK","Message":`)
	if f.source.Append == nil {
		b = append(b, "[]"...)
	} else {
		var err error
		if b, err = f.source.Append(ctx, r, b); err != nil {
			return nil, err
		}
	}
	b = append(b, `,"Nonce":"`...)
	packed, err := pack(b)
	return &edition{rev: rev, plain: b, packed: packed, sum: crc32.ChecksumIEEE(b)}, err
}

// gzipHeader opens a gzip stream without name or time (RFC 1952, 2.3).
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// pack compresses a text as the beginning of a gzip stream that ends on a byte
// boundary, so that anything can be added.
func pack(b []byte) ([]byte, error) {
	var out bytes.Buffer
	out.Write(gzipHeader)
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	err = w.Flush()
	return out.Bytes(), err
}

// answer is a feed for one node: the shared edition and a tail of its own.
type answer struct {
	*edition
	tail []byte
}

func (e *edition) answer(nonce string) answer { return answer{e, []byte(nonce + `"}`)} }

// Stream implements operation.Stream.
func (a answer) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	return "application/json", "", [][]byte{a.plain, a.tail}, [][]byte{a.packed, a.closing()}
}

// closing adds the tail to the compressed beginning: one stored block, the last
// of the stream (RFC 1951, 3.2.4), and the checksum and length of the whole.
func (a answer) closing() []byte {
	n := uint16(len(a.tail))
	b := []byte{1}
	b = binary.LittleEndian.AppendUint16(b, n)
	b = binary.LittleEndian.AppendUint16(b, ^n)
	b = append(b, a.tail...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Update(a.sum, crc32.IEEETable, a.tail))
	return binary.LittleEndian.AppendUint32(b, uint32(len(a.plain)+len(a.tail)))
}
