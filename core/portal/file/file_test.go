package file_test

import (
	"path"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// TestName: the folders of portals; no two portals share one.
func TestName(t *testing.T) {
	if have := file.Name("portal:default", "products", "7", "png"); have != "default/products/7.png" {
		t.Error(have)
	}
	for _, portal := range []tenant.ID{"portal:../other", "portal:", "portal:a/b", "portal:.hidden", "acme"} {
		if have := file.Name(portal, "products", "7", "png"); !file.Valid(have) {
			t.Errorf("%s: %s", portal, have)
		}
	}
	if file.Name("portal:a/b", "x", "1", "png") == file.Name("portal:a_b", "x", "1", "png") {
		t.Error("two portals share a folder")
	}
}

// FuzzValid: no valid name leads out of a folder.
func FuzzValid(f *testing.F) {
	for _, s := range []string{"a/b.png", "../x", "/etc/passwd", "a//b", "a/./b", `a\..\b`, "a/..b", "C:x", "a\x00b", "", ".", strings.Repeat("a/", 9) + "a", strings.Repeat("a", 600)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if file.Valid(s) && (path.Clean("/root/"+s) != "/root/"+s || strings.ContainsAny(s, "\\:\x00 ") || len(s) > 512) {
			t.Errorf("%q is valid", s)
		}
	})
}
