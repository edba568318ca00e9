package doc_test

import (
	"bytes"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// FuzzLoadObject loads text that may have been damaged on disk: it never panics, and for an
// intact object it returns the same as ParseObject.
func FuzzLoadObject(f *testing.F) {
	for _, text := range []string{
		``, `{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a" 1}`, `{a:1}`, `[1]`, `1`, `"x"`, `{"a":"\`, `{"a\":1}`,
		`{"a":[1,{"b":"}"}],"c":"é"}`, `{"a":{`, `{"a":"b"]}`, " {} ", `{"a":1}}`, "{\"a\":1\x00}", `{"a":,"b":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		loaded, err := doc.LoadObject(bytes.Clone(text))
		parsed, wrong := doc.ParseObject(bytes.Clone(text))
		if wrong != nil {
			return
		}
		a, _ := loaded.AppendJSON(nil)
		b, _ := parsed.AppendJSON(nil)
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%q: %v, %s and %s", text, err, a, b)
		}
	})
}
