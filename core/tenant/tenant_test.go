package tenant_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// TestAdmits states which data each scope includes. The empty organisation is that of users
// without an organisation: only the scope of Everyone includes it.
func TestAdmits(t *testing.T) {
	acme, err := tenant.Of("acme")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		scope  tenant.Scope
		admits map[tenant.ID]bool
		org    tenant.ID
		all    bool
		zero   bool
		reason string
	}{
		"the zero scope touches nothing": {
			scope: tenant.Scope{}, zero: true,
			admits: map[tenant.ID]bool{"": false, "acme": false},
		},
		"one organisation reaches itself, by the exact name": {
			scope: acme, org: "acme",
			admits: map[tenant.ID]bool{"acme": true, "": false, "other": false, "Acme": false, "acm": false, "acme ": false},
		},
		"everyone reaches all": {
			scope: tenant.Everyone("feed"), all: true, reason: "feed",
			admits: map[tenant.ID]bool{"acme": true, "other": true, "": true},
		},
		"everyone needs no reason to be everyone": {
			scope: tenant.Everyone(""), all: true,
			admits: map[tenant.ID]bool{"acme": true, "": true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for org, want := range c.admits {
				if got := c.scope.Admits(org); got != want {
					t.Errorf("Admits(%q) = %v", org, got)
				}
			}
			if c.scope.Org() != c.org || c.scope.All() != c.all || c.scope.IsZero() != c.zero || c.scope.Reason() != c.reason {
				t.Errorf("org %q, all %v, zero %v, reason %q", c.scope.Org(), c.scope.All(), c.scope.IsZero(), c.scope.Reason())
			}
		})
	}
}

// FuzzOf states that a scope includes only the organisation it was made for, and that a
// refused scope includes nothing.
func FuzzOf(f *testing.F) {
	f.Add("", "")
	f.Add("acme", "acme")
	f.Add("acme", "")
	f.Add("", "acme")
	f.Add("5f1a0c5d8e3b2a1f00000001", "5F1A0C5D8E3B2A1F00000001")
	f.Fuzz(func(t *testing.T, mine, other string) {
		scope, err := tenant.Of(tenant.ID(mine))
		if (err != nil) != (mine == "") || (err != nil) != scope.IsZero() {
			t.Fatalf("Of(%q) = %+v, %v", mine, scope, err)
		}
		if scope.All() || scope.Org() != tenant.ID(mine) {
			t.Errorf("Of(%q) is the scope of %q, all %v", mine, scope.Org(), scope.All())
		}
		if got, want := scope.Admits(tenant.ID(other)), mine != "" && mine == other; got != want {
			t.Errorf("Of(%q).Admits(%q) = %v", mine, other, got)
		}
	})
}
