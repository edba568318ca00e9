package oas_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// TestWholes: whole numbers are saved in the form that gateways can decode. A number that only
// looks whole as a double is not one.
func TestWholes(t *testing.T) {
	for rate, want := range map[string]string{
		"5": "5", "5.0": "5", "5e2": "500", "-1.0": "-1", "0.0": "0", "9007199254740993": "9007199254740993",
		"1.0000000000000000001": "", "1e-400": "", "0.30000000000000004": "", "9007199254740993.0": "", "1e400": "", "99999999999999999999": "",
	} {
		document, err := doc.ParseNode([]byte(`{"x":1.0,"x-tyk-api-gateway":{"later":1.0,"upstream":{"rateLimit":{"enabled":true,"rate":` + rate + `,"per":"1s"}},` +
			`"middleware":{"operations":{"o":{"mockResponse":{"enabled":true,"code":` + rate + `}}},"global":{"cache":{"cacheResponseCodes":[` + rate + `]}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		extension := document.Get(oas.ExtensionKey)
		if broken := oas.Broken(extension); (len(broken) == 3) != (want == "") || len(broken) != 0 && want != "" {
			t.Errorf("%s: %q", rate, broken)
		}
		if want == "" {
			want = rate // and it is refused
		}
		oas.Normalise(document)
		for _, place := range []*doc.Node{
			extension.Get("upstream", "rateLimit", "rate"), extension.Get("middleware", "operations", "o", "mockResponse", "code"),
			extension.Get("middleware", "global", "cache", "cacheResponseCodes").Item(0),
		} {
			if got := string(place.JSON()); got != want {
				t.Errorf("%s is saved as %s", rate, got)
			}
		}
		if string(document.Get("x").JSON()) != "1.0" || string(extension.Get("later").JSON()) != "1.0" {
			t.Errorf("%s", document.JSON())
		}
	}
}
