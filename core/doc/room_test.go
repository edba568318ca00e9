package doc_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

func TestRoom(t *testing.T) {
	none := func() []byte { return nil }
	for _, c := range []struct {
		room         doc.Room
		text, before string
		want         string
		holds        bool
	}{
		{doc.Room{}, strings.Repeat(" ", 100) + "[1,1]", "", "", true},
		{doc.Room{Bytes: 5}, `[1,1]`, "", "", true},
		{doc.Room{Bytes: 4}, `[1,1]`, "", "it would have more than 4 bytes", false},
		{doc.Room{Bytes: 4}, `[1,1]`, `[1,1]`, "", false},
		{doc.Room{Values: 3}, `[1,1]`, "", "", true},
		{doc.Room{Values: 2}, `[1,1]`, "", "it would hold more than 2 values", false},
		{doc.Room{Values: 2}, `[1,1]`, `[2,2]`, "", false},
		{doc.Room{Values: 2}, `[1,1]`, `[2]`, "it would hold more than 2 values", false},
		{doc.Room{Values: 5}, `[1,1]`, "", "", true},
		{doc.Room{Values: 2}, `"long enough"`, "", "", true},
	} {
		before := none
		if c.before != "" {
			before = func() []byte { return []byte(c.before) }
		}
		if got := c.room.LackText([]byte(c.text), before); got != c.want {
			t.Errorf("%v %s: %q", c.room, c.text, got)
		}
		if got := c.room.Holds(doc.Count([]byte(c.text)), len(c.text)); got != c.holds {
			t.Errorf("%v holds %s: %v", c.room, c.text, got)
		}
	}
}
