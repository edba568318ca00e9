package sql

import (
	"encoding/hex"
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// The places of parts, and their names in rows, never change: stored texts must open.
func TestPlacesOfParts(t *testing.T) {
	at := recordSpot("k", "a", "1", 7)
	for _, c := range []struct {
		of   contents
		want string
	}{{contents{3, 2_200_000, "", true}, "70720700016b0161013102"}, {contents{3, 2_200_000, "NAME", true}, "744e414d4502"}, {contents{3, 2_200_000, "NAME", false}, "744e414d4502"}} {
		if got := hex.EncodeToString(at.part(c.of, 2)); got != c.want {
			t.Errorf("%+v: %s", c.of, got)
		}
		if back, ok := contentsOf(c.of.text()); !ok || back != c.of {
			t.Errorf("%q is read as %+v, %v", c.of.text(), back, ok)
		}
		if n := len(asText(make([]byte, len(contents{99_999, 9_999_999_999, named().name, false}.text())+46))); n > mostContents {
			t.Errorf("contents take %d bytes", n)
		}
	}
	for _, text := range []string{"", "+", "+3", "+3 x", "+0 5", "+3 2", "+3 5 a b", "*3 5", "*3 5 a b", "{}", "-3 5"} {
		if c, ok := contentsOf([]byte(text)); ok {
			t.Errorf("%q is read as %+v", text, c)
		}
	}
}

// The cache keeps the last document of each record, up to its limit.
func TestYoungest(t *testing.T) {
	var y youngest
	doc := func(name, id string, size int) large {
		return large{&store.Record{Org: "a", Kind: "k", ID: id, Doc: make([]byte, size)}, "", name}
	}
	text := &longText{contents: contents{name: "LOG"}}
	y.took([]*longText{text}, []large{doc("A", "1", 2<<20), doc("B", "2", 2<<20)})
	y.took(nil, []large{doc("C", "1", 3<<20), doc("", "5", largeSize)})
	for name, size := range map[string]int{"A": 0, "B": 2 << 20, "C": 3 << 20, "LOG": 0, "": 0} {
		if n := len(y.plain(name)); n != size {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
	if !text.taken {
		t.Error("the text was not marked as taken")
	}
	y.took(nil, []large{doc("D", "3", youngestBytes-4<<20)})
	if y.plain("B") != nil || y.plain("C") == nil || y.plain("D") == nil {
		t.Error("the oldest goes first")
	}
	y.took(nil, []large{doc("E", "4", youngestBytes+1)})
	if len(y.docs) != 0 {
		t.Errorf("%d documents are kept beyond the bound", len(y.docs))
	}
}

// A cached record is used only for a row with the same address, revision, meta and document.
func TestYoungestRecord(t *testing.T) {
	var y youngest
	of := func(id string, rev store.Revision, last byte) *store.Record {
		return &store.Record{Org: "a", Kind: "k", ID: id, Rev: rev, Doc: append(make([]byte, largeSize), last)}
	}
	y.took(nil, []large{{of("1", 7, 'x'), "m", ""}})
	for _, c := range []struct {
		what string
		rec  *store.Record
		meta string
		want bool
	}{
		{"the same", of("1", 7, 'x'), "m", true},
		{"another record", of("2", 7, 'x'), "m", false},
		{"another revision", of("1", 8, 'x'), "m", false},
		{"another document", of("1", 7, 'y'), "m", false},
		{"another meta", of("1", 7, 'x'), "n", false},
	} {
		if got := y.record(c.rec, []byte(c.meta)) != nil; got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
