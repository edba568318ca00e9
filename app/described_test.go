package app_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// TestDescribedParameters: descriptions give parameters the types and values that the files
// of the field give them, so that programs made of either ask the same.
func TestDescribedParameters(t *testing.T) {
	have := map[string]operation.Param{}
	for _, o := range service(t, nobodyWatches()).Operations() {
		for _, p := range o.Params {
			have[o.ID+" "+p.Name] = p
		}
		if streams := strings.HasPrefix(o.ID, "apis.streams.") && o.Body != nil; streams != slices.Contains(o.Media, "application/vnd.tyk.streams.oas") {
			t.Errorf("%s takes %q", o.ID, o.Media)
		}
	}
	for name, want := range map[string]string{
		"users.list p": "integer", "mcps.list p": "integer", "audit.list p": "integer", "audit.list status": "integer", "activity.mcp.primitives limit": "integer",
		"apis.oas.import allowList": "boolean", "apis.oas.patch validateRequest": "boolean", "apis.oas.dry-run mockResponse": "boolean", "keys.get auto_guess": "boolean",
	} {
		if p, ok := have[name]; !ok || p.Is != want {
			t.Errorf("%s is %q, not %q", name, p.Is, want)
		}
	}
	for name, want := range map[string]string{
		"audit.list type": "json csv", "apis.oas.versions accessType": "internal external", "apis.oas.export mode": "public", "system.stats.get entity": "apis dataplanes dataplanes.gateways",
		"activity.mcp.primitives mcp_primitive_type": "tool resource prompt", "admin.oauth.tokens.purge scope": "lapsed", "assets.list kind": "oas-template",
	} {
		if p, ok := have[name]; !ok || strings.Join(p.OneOf, " ") != want {
			t.Errorf("%s is one of %q, not of %q", name, p.OneOf, want)
		}
	}
	for _, name := range []string{"users.search.url q", "admin.oauth.tokens.purge scope"} {
		if !have[name].Required {
			t.Errorf("%s can be left out", name)
		}
	}
}

// TestDescribedValues: a value that a description names for a parameter is not refused.
func TestDescribedValues(t *testing.T) {
	a := service(t, nobodyWatches())
	days := strings.NewReplacer("{startDay}/{startMonth}/{startYear}", "1/1/2026", "{EndDay}/{EndMonth}/{EndYear}", "2/1/2026")
	tried := 0
	for _, o := range a.Operations() {
		path := days.Replace(o.Path)
		if o.Method != "GET" || o.Surface != operation.Management || strings.Contains(path, "{") {
			continue
		}
		without, _ := fetch(t, a, "GET", path, "admin", "")
		for _, p := range o.Params {
			for _, value := range p.OneOf {
				tried++
				if code, text := fetch(t, a, "GET", path+"?"+p.Name+"="+value, "admin", ""); code != without {
					t.Errorf("%s refuses %s=%s: %s", o.ID, p.Name, value, text)
				}
			}
		}
	}
	if tried < 50 {
		t.Error("only", tried, "values were tried")
	}
}
