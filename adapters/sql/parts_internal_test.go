package sql

import (
	"encoding/hex"
	"testing"
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
	text := func(name, id string, size int) *longText {
		return &longText{contents: contents{name: name}, of: address{"a", "k", id}, plain: make([]byte, size)}
	}
	y.took([]*longText{text("A", "1", 2<<20), text("B", "2", 2<<20), {contents: contents{name: "LOG"}}})
	y.took([]*longText{text("C", "1", 3<<20)})
	for name, size := range map[string]int{"A": 0, "B": 2 << 20, "C": 3 << 20, "LOG": 0, "": 0} {
		if n := len(y.plain(name)); n != size {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
	y.took([]*longText{text("D", "3", youngestBytes-4<<20)})
	if y.plain("B") != nil || y.plain("C") == nil || y.plain("D") == nil {
		t.Error("the oldest goes first")
	}
	y.took([]*longText{text("E", "4", youngestBytes+1)})
	if len(y.texts) != 0 {
		t.Errorf("%d texts are kept beyond the bound", len(y.texts))
	}
}
