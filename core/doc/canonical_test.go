package doc_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// FuzzCanonical: two values have the same canonical text if and only if they are equal.
func FuzzCanonical(f *testing.F) {
	for _, pair := range [][2]string{
		{`1`, `1.0`}, {`10`, `1e1`}, {`-0`, `0`}, {`0.10`, `1E-1`}, {`100e-2`, `1`}, {`-1.50`, `-15e-1`}, {`1`, `2`}, {`1e400`, `1e400`}, {`1e400`, `10e399`}, {`1e-400`, `0`},
		{`9007199254740993`, `9007199254740992`}, {`0.1`, `0.10000000000000000001`}, {`1e+2`, `100`}, {`1e-1000000`, `10e-1000001`}, {`1e-1000001`, `1.0e-1000001`}, {`0e9999999`, `0`}, {`0e99999999999999999999`, `0`}, {`1e-999999999`, `0`}, {`{"a":1,"b":2}`, `{"b":2.0,"a":1}`}, {`[1,2]`, `[2,1]`}, {`[]`, `{}`}, {`""`, `null`},
		{`"\u00e9"`, `"é"`}, {`"1"`, `1`}, {`{"a":[1,"x"]}`, `{"a":[1,"x",1]}`}, {`{"a":"b,"}`, `{"a":"b"}`}, {`{"\u0061":1}`, `{"a":1}`}, {`true`, `false`}, {`[[],1]`, `[[1]]`},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, err := doc.ParseNode([]byte(a))
		if err != nil {
			return
		}
		y, err := doc.ParseNode([]byte(b))
		if err != nil {
			return
		}
		if same := x.Canonical() == y.Canonical(); same != x.Equal(y) {
			t.Errorf("%s and %s: %q, %q, equal %v", a, b, x.Canonical(), y.Canonical(), x.Equal(y))
		}
	})
}

// Methods of a missing member work.
func TestNoNode(t *testing.T) {
	none := doc.NewObject().Get("none")
	if text, weight := none.Canonical(), none.Weight(9); text != "" || weight != 0 {
		t.Errorf("%q, %d", text, weight)
	}
}
