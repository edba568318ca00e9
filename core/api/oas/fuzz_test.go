package oas_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// FuzzExtract: any two JSON values give a complete, correctly typed definition.
func FuzzExtract(f *testing.F) {
	f.Add(shop, `{}`, false)
	f.Add(shop, `{"version_data":{"versions":null},"definition":{"enabled":1},"tags":["a",1],"auth_configs":{"jwt":null}}`, true)
	f.Add(`{"paths":{"/{":{"get":null}},"x-tyk-api-gateway":{"middleware":{"operations":{"":{"allow":{}}}}}}`, `[]`, true)
	f.Fuzz(func(t *testing.T, document, over string, mcp bool) {
		d, err := doc.ParseNode([]byte(document))
		o, err2 := doc.ParseNode([]byte(over))
		if err != nil || err2 != nil {
			t.Skip()
		}
		c := oas.Extract(d, o, oas.Options{MCP: mcp})
		wantTyped(t, c)
		oas.Normalise(d)
	})
}

// FuzzFill: any two JSON values give a document with a correctly typed classic form.
func FuzzFill(f *testing.F) {
	d := doctest.Node(f, shop)
	f.Add(shop, string(oas.Extract(d, nil, oas.Options{}).JSON()))
	f.Add(`{"security":{},"paths":[]}`, `{"auth_configs":{"authToken":{"name":"a"},"oauth":{"name":"a"}},"security_requirements":[["a","hmac"],[]]}`)
	f.Add(`{"paths":{"/a":5}}`, `{"version_data":{"versions":{"":{"extended_paths":{"mock_response":[{"path":"a","method":"get","code":9e99}]}}}}}`)
	f.Fuzz(func(t *testing.T, document, classic string) {
		d, err := doc.ParseNode([]byte(document))
		c, err2 := doc.ParseNode([]byte(classic))
		if err != nil || err2 != nil {
			t.Skip()
		}
		before, beforeC := string(d.JSON()), string(c.JSON())
		wantTyped(t, oas.Extract(oas.Fill(d, c), nil, oas.Options{}))
		if string(d.JSON()) != before || string(c.JSON()) != beforeC {
			t.Error("an argument was changed")
		}
	})
}
