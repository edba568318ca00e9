package access_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

func TestCheckCustom(t *testing.T) {
	many := map[string]string{}
	for i := range access.MaxCustom + 1 {
		many[fmt.Sprint("p", i)] = ""
	}
	for name, c := range map[string]struct {
		custom map[string]string
		ok     bool
	}{
		"none":             {nil, true},
		"one":              {map[string]string{"billing": "See what is billed"}, true},
		"without a label":  {map[string]string{"billing": ""}, true},
		"letters":          {map[string]string{"Zahlungen prüfen": "Zahlungen"}, true},
		"a group":          {map[string]string{"apis": "APIs"}, false},
		"in other letters": {map[string]string{"isadmin": "Admin"}, false},
		"a synonym":        {map[string]string{"policy": "Policies"}, false},
		"every user":       {map[string]string{"*": "All"}, false},
		"no name":          {map[string]string{"": "Nothing"}, false},
		"blanks":           {map[string]string{" billing": ""}, false},
		"a line":           {map[string]string{"bil\nling": ""}, false},
		"no text":          {map[string]string{"bil\xffling": ""}, false},
		"a long name":      {map[string]string{strings.Repeat("x", 65): ""}, false},
		"a long label":     {map[string]string{"billing": strings.Repeat("x", 201)}, false},
		"many":             {many, false},
	} {
		if err := access.CheckCustom(c.custom); (err == nil) != c.ok || err != nil && fault.CodeOf(err) != access.CodeCustom {
			t.Error(name, err)
		}
	}
	for _, g := range access.Groups {
		if access.CheckCustom(map[string]string{string(g): ""}) == nil {
			t.Error(g)
		}
	}
}

// TestKnown: names count in the spelling of permission maps.
func TestKnown(t *testing.T) {
	custom := map[string]string{"billing": "Bills"}
	for name, want := range map[string]bool{
		"apis": true, "policies": true, "policy": true, "IsAdmin": true, "billing": true,
		"isadmin": false, "Billing": false, "appis": false, "": false, "*": false,
	} {
		if got := access.Known(name, custom); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
