package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// wirePage is the page that states the wire contract of a group, below docs.
func wirePage(tag string) string { return "wire/" + path.Base(pageName(tag)) }

// contract links to the wire contract of a group, if there is one.
func contract(tag, dir string) string {
	if _, err := os.Stat(filepath.Join(dir, wirePage(tag))); err != nil {
		return ""
	}
	return " · [What clients rely on](../" + wirePage(tag) + ")"
}

// fields prints what gateways decode, from the types that check it.
func fields() string {
	var b strings.Builder
	b.WriteString("# Fields and types\n\nMade from the types that writes and feeds are checked with by `make generate`. Not to be edited.\n\n" +
		"`[]` stands for each item of a list, `{}` for any name. Lists and objects may be null. Types are strict: see\n" +
		"[classic-definition.md](classic-definition.md#types).\n")
	for _, s := range []struct {
		title string
		of    shape.Type
	}{{"Definition", classic.Type()}, {"Policies", policy.Table}} {
		fmt.Fprintf(&b, "\n## %s\n\n| field | type |\n|---|---|\n", s.title)
		s.of.Walk(func(at shape.Place, of shape.Type) {
			kind := of.String()
			if of.Free() {
				kind = "any JSON"
			}
			if len(at) > 0 && kind != "a list" && kind != "an object" {
				fmt.Fprintf(&b, "| `%s` | %s |\n", at, kind)
			}
		})
	}
	return b.String()
}
