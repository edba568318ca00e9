package oas

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// silent reports whether a slot of auth_configs is missing or completely empty.
func silent(slot *doc.Node) bool {
	for _, v := range slot.Members() {
		if v.Is(doc.TypeObject) && !silent(v) || !v.Is(doc.TypeObject) && !isEmpty(v, text) {
			return false
		}
	}
	return true
}

// held are blocks of the authentication that a fill does not change, even empty ones, because
// the classic form has no values for them.
type held struct {
	path  []string
	block *doc.Node
}

func hold(a, configs *doc.Node) []held {
	var paths [][]string
	if configs.Len() == 0 {
		paths = append(paths, []string{"hmac"}, []string{"oidc"}, []string{"certificateAuth"})
	}
	if silent(configs.Get("coprocess")) {
		paths = append(paths, []string{"custom", "header"}, []string{"custom", "cookie"}, []string{"custom", "query"})
	}
	var out []held
	for _, path := range paths {
		if block := a.Get(path...); block.Is(doc.TypeObject) {
			out = append(out, held{path, block.Clone()})
		}
	}
	return out
}
