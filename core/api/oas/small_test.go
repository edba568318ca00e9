package oas_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

func TestDurations(t *testing.T) {
	for text, canonical := range map[string]string{
		"": "0s", "soon": "0s", "5": "0s", "0ms": "0s", "90s": "1m30s", "1.5s": "1s500ms", "3600s": "1h", "-90s": "-1m30s",
		"25h": "25h", "1h0m1s": "1h1s", "1500us": "1ms500µs", "1500ns": "1µs500ns", "1000000h": "1000000h", "99999999h": "0s",
	} {
		if got := oas.FormatDuration(oas.ParseDuration(text)); got != canonical {
			t.Errorf("%q: want %s, got %s", text, canonical, got)
		}
	}
	for text, seconds := range map[string]int64{"500ms": 1, "1.5s": 2, "2m": 120, "1s": 1, "0s": 0, "-1500ms": -1, "-500ms": 0} {
		if got := oas.RoundUpSeconds(oas.ParseDuration(text)); got != seconds {
			t.Errorf("%q: want %d s, got %d s", text, seconds, got)
		}
	}
}

func FuzzDuration(f *testing.F) {
	for _, n := range []int64{0, 1, -1, 1500, int64(time.Hour), math.MaxInt64, math.MinInt64} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		text := oas.FormatDuration(time.Duration(n))
		if got := oas.ParseDuration(text); got != time.Duration(n) {
			t.Errorf("%d is written %s, which reads %d", n, text, got)
		}
	})
}

func TestPairedSource(t *testing.T) {
	for target, id := range map[string]string{
		"tyk://rest__mcp-server": "rest", "tyk://id:rest__mcp-server/": "rest", "tyk://rest__mcp-server/x": "", "tyk://__mcp-server": "",
		"tyk://rest/mcp": "rest", "tyk://id:rest/mcp/": "rest", "tyk://rest/mcp/x": "", "tyk://rest": "", "http://rest/mcp": "", "": "",
		"tyk://rest/mcp?a=b": "rest", "tyk:///mcp": "",
	} {
		if got, paired := oas.PairedSource(target); got != id || paired != (id != "") {
			t.Errorf("%s: got %q, %t", target, got, paired)
		}
	}
}

func TestRecognise(t *testing.T) {
	for _, c := range []struct {
		native, entry string
		want          oas.Scheme
	}{
		{`{"type":"apiKey"}`, `{}`, oas.SchemeToken},
		{`{"type":"http","scheme":"basic"}`, `null`, oas.SchemeBasic},
		{`{"type":"http","scheme":"bearer","bearerFormat":"JWT"}`, `{}`, oas.SchemeJWT},
		{`{"type":"http","scheme":"bearer"}`, `{}`, oas.SchemeOther},
		{`{"type":"oauth2"}`, `{"providers":[]}`, oas.SchemeOAuth},
		{`{"type":"oauth2"}`, `{"providers":[{}]}`, oas.SchemeExternalOAuth},
		{`{"type":"oauth2"}`, `{"providers":[{}],"tokenExchange":{}}`, oas.SchemeOAuth2},
		{`{"type":"openIdConnect"}`, `{}`, oas.SchemeOther},
		{`{}`, `{}`, oas.SchemeOther},
	} {
		if got := oas.Recognise(doctest.Node(t, c.native), doctest.Node(t, c.entry)); got != c.want {
			t.Errorf("%s %s: got %q", c.native, c.entry, got)
		}
	}
}

func TestPadBase64(t *testing.T) {
	for in, out := range map[string]string{
		"YQ": "YQ==", "YWI": "YWI=", "YWJj": "YWJj", "YQ=": "YQ==", "YQ==": "YQ==", "https://idp.test/jwks": "https://idp.test/jwks", "a": "a", "": "",
	} {
		if got := oas.PadBase64(in); got != out {
			t.Errorf("%s: got %s", in, got)
		}
	}
}

// TestManyParametersAndRequirements: each one is looked up among the others.
func TestManyParametersAndRequirements(t *testing.T) {
	growth.Linear(t, 1_000, func(size int) func() {
		var path, schemes, root, vendor strings.Builder
		for i := range size {
			fmt.Fprintf(&path, "/{p%d}", i)
			fmt.Fprintf(&schemes, `"s%d":{"type":"apiKey","in":"header","name":"A"},`, i)
			fmt.Fprintf(&root, `{"s%d":[]},`, i)
			fmt.Fprintf(&vendor, `["s%d","s%d"],`, i, i+1)
		}
		text := `{"paths":{},"components":{"securitySchemes":{` + schemes.String() + `"t":{}}},"security":[` + root.String() + `{"t":[]}],` +
			`"x-tyk-api-gateway":{"server":{"authentication":{"enabled":true,"securityProcessingMode":"compliant","security":[` + vendor.String() + `["t"]]}}}}`
		return func() {
			document := doctest.Node(t, text)
			c := oas.Extract(document, nil, oas.Options{})
			oas.EndpointsOf(document).Described(path.String(), "GET")
			if n, m := c.Get("security_requirements").Len(), document.Get("paths", path.String(), "parameters").Len(); n != 2*size+2 || m != size {
				t.Errorf("%d requirements, %d parameters", n, m)
			}
		}
	})
}

// TestFillMany: rules of a rewrite and names of the extension are looked up in the document
// that is filled.
func TestFillMany(t *testing.T) {
	growth.Linear(t, 300, func(size int) func() {
		var rules, vendor strings.Builder
		for i := range size {
			fmt.Fprintf(&rules, `{"in":"header","name":"h%d","pattern":"p"},`, i)
			fmt.Fprintf(&vendor, `["v%d"],`, i)
		}
		document, err := doc.ParseNode([]byte(`{"paths":{"/a":{"get":{"operationId":"a"}}},"security":[],"x-tyk-api-gateway":{"info":{"name":"n"},"server":{"authentication":{"enabled":true,` +
			`"securityProcessingMode":"compliant","security":[` + vendor.String() + `["w"]]}},"middleware":{"operations":{"a":{"urlRewrite":{"enabled":true,"triggers":[{"rules":[` +
			rules.String() + `{"in":"path","name":"q","pattern":"p"}]}]}}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		c := oas.Extract(document, nil, oas.Options{})
		return func() { oas.Fill(document, c) }
	})
}

// TestSchemeOfManyRequirements: a scheme is converted once, even if many requirements name it.
func TestSchemeOfManyRequirements(t *testing.T) {
	growth.Linear(t, 60, func(size int) func() {
		var requirements, mapping strings.Builder
		for i := range size {
			requirements.WriteString(`{"j":[]},`)
			fmt.Fprintf(&mapping, `{"scope":"s%d","policyId":"p"},`, i)
		}
		document, err := doc.ParseNode([]byte(`{"components":{"securitySchemes":{"j":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}}},"security":[` + requirements.String() +
			`{"j":[]}],"x-tyk-api-gateway":{"server":{"authentication":{"enabled":true,"securityProcessingMode":"compliant","securitySchemes":{"j":{"enabled":true,` +
			`"scopes":{"scopeToPolicyMapping":[` + mapping.String() + `{"scope":"s","policyId":"p"}]}}}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			if c := oas.Extract(document, nil, oas.Options{}); c.Get("scopes", "jwt", "scope_to_policy").Len() != size+1 {
				t.Error(c.Get("scopes").Canonical())
			}
		}
	})
}
