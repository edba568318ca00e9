package doc_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

func TestKeep(t *testing.T) {
	for _, c := range []struct{ name, old, was, now, want string }{
		{"nothing is unknown", `{"a":1}`, `{"a":1}`, `{"a":2}`, `{"a":2}`},
		{"spelled otherwise", `{ "a": 1 }`, `{"a":1}`, `{"a": 2}`, `{"a": 2}`},
		{"unknown", `{"a":1,"later":{"x":1.0}}`, `{"a":1}`, `{"a":2}`, `{"a":2,"later":{"x":1.0}}`},
		{"removed", `{"a":1,"b":2,"later":3}`, `{"a":1,"b":2}`, `{"a":1}`, `{"a":1,"later":3}`},
		{"inside", `{"o":{"a":1,"later":1}}`, `{"o":{"a":1}}`, `{"o":{"a":2}}`, `{"o":{"a":2,"later":1}}`},
		{"a free name that goes", `{"m":{"x":{"a":1},"y":{"later":1}}}`, `{"m":{"x":{"a":1},"y":{}}}`, `{"m":{"x":{"a":1}}}`, `{"m":{"x":{"a":1}}}`},
		{"now known", `{"later":1}`, `{}`, `{"later":2}`, `{"later":2}`},
		{"another spelling of a known one", `{"Name":"old","name":"old"}`, `{"name":"old"}`, `{"name":"new"}`, `{"name":"new"}`},
		{"no object any more", `{"o":{"later":1}}`, `{"o":{}}`, `{"o":null}`, `{"o":null}`},
	} {
		got, err := doc.Keep([]byte(c.old), []byte(c.was), []byte(c.now))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.want)
		}
	}
}
