package oas

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// TestDefinitionsAgree: places with the same definition have the same members, so the schema
// may be made from any of them.
func TestDefinitionsAgree(t *testing.T) {
	for _, o := range []Options{{}, {MCP: true}} {
		all := Definitions(o)
		for i, d := range all {
			if slices.ContainsFunc(all[:i], func(other Definition) bool { return other.Name == d.Name }) {
				t.Errorf("%s is defined twice", d.Name)
			}
			for _, m := range d.Members {
				if m.Type == "" {
					t.Errorf("%s.%s has no type", d.Name, m.Name)
				}
				for name := range strings.SplitSeq(strings.Trim(m.Type, "[]{}?+*"), "/") {
					if typ(name).named() && !slices.ContainsFunc(all, func(other Definition) bool { return other.Name == name }) {
						t.Errorf("%s.%s: nothing defines %s", d.Name, m.Name, name)
					}
				}
			}
		}
	}
	made, compared := map[string]Definition{}, 0
	for _, d := range Definitions(Options{}) {
		made[d.Name] = d
	}
	for _, rows := range [][]row{without(slices.Concat(rootRows, keptRows), "middleware.mcpTools", "middleware.mcpResources", "middleware.mcpPrompts"), schemeRows(), operationRows, responseRows, primitiveRows, handlerRows} {
		agree(t, tree(rows), made, &compared)
	}
	if compared < 150 {
		t.Errorf("%d places compared", compared)
	}
}

// agree compares every object below a place with its definition.
func agree(t *testing.T, b *branch, made map[string]Definition, compared *int) {
	t.Helper()
	name, _ := b.typ.required()
	if d, ok := made[string(name)]; ok && b.members != nil && d.Type == "" {
		*compared++
		var here []Member
		for _, member := range b.names {
			bare, required := b.members[member].typ.required()
			here = append(here, Member{member, string(bare), required})
		}
		byName := func(a, b Member) int { return strings.Compare(a.Name, b.Name) }
		if want := slices.SortedFunc(slices.Values(d.Members), byName); !slices.Equal(slices.SortedFunc(slices.Values(here), byName), want) {
			t.Errorf("%s: one place has %v, another %v", name, want, here)
		}
	}
	for _, member := range b.names {
		next := b.members[member]
		item := next.typ
		for next.item != nil || next.value != nil {
			item, _ = item.required()
			var composed bool
			if item, composed = item.item(); !composed {
				break
			}
			if next.item != nil {
				next = next.item
			} else {
				next = next.value
			}
			next.typ = item
		}
		agree(t, next, made, compared)
	}
}

// TestTwinsExist: the classic counterparts in the table are places of the definition that
// gateways decode.
func TestTwinsExist(t *testing.T) {
	var places []string
	classic.Type().Walk(func(at shape.Place, _ shape.Type) { places = append(places, at.String()) })
	for _, r := range Table() {
		path, _, _ := strings.Cut(r.Classic, " (")
		slot := "auth_configs." + strings.Split(path+"..", ".")[1] + "."
		path = strings.NewReplacer(`versions[""]`, "versions.{}", ".*", ".{}", slot, "auth_configs.{}.").Replace(path)
		several := r.Rule == string(rewrite) || strings.HasPrefix(path, "event_handlers.")
		if path != "" && !several && !slices.Contains(places, path) {
			t.Errorf("%s: a definition has no %s", r.Ext, path)
		}
	}
}
