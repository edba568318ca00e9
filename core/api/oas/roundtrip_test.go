package oas_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/openapi"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// TestRoundTrip: a valid document with any members of the schema has the same meaning for
// gateways after its classic form has been filled into it, and a second fill changes nothing.
func TestRoundTrip(t *testing.T) {
	validator := openapi.New()
	schema, err := validator.Schema(port.OAS, "3.0")
	if err != nil {
		t.Fatal(err)
	}
	definitions, valid := doctest.Node(t, string(schema)).Get("definitions"), 0
	for seed := range uint64(400) {
		d := schemaGenerator{newGenerator(seed, false), definitions, []int{10, 40, 80}[seed%3]}.document()
		if problems := validator.Validate(d, port.Options{}); len(problems) > 0 {
			continue
		}
		valid++
		c := oas.Extract(d, nil, oas.Options{})
		filled := oas.Fill(d, c)
		for _, x := range differences("classic", effective(c), effective(oas.Extract(filled, nil, oas.Options{}))) {
			t.Errorf("seed %d: %s", seed, x)
		}
		for _, x := range differences("document", filled, oas.Fill(filled, c)) {
			t.Errorf("seed %d: %s", seed, x)
		}
	}
	if valid < 150 {
		t.Errorf("only %d documents are valid", valid)
	}
}

// effective returns the settings of a definition that have an effect for gateways, without
// settings that are off.
func effective(c *doc.Node) *doc.Node {
	c = c.Clone()
	for _, e := range at(c, "EP/url_rewrites").Items() {
		if list := e.Get("triggers"); list != nil { // a trigger without rules has no effect
			list.SetItems(slices.DeleteFunc(list.Items(), func(trigger *doc.Node) bool { return prune(trigger.Get("options")).Len() == 0 }))
		}
	}
	for _, list := range at(c, "V/extended_paths").Members() {
		list.SetItems(slices.DeleteFunc(list.Items(), func(e *doc.Node) bool { return e.Get("disabled").True() && idle(e) }))
	}
	for _, e := range at(c, "EP/advance_cache_config").Items() {
		if !e.Get("disabled").True() && e.Get("timeout").Int() == 0 {
			e.Set("timeout", doc.NewInt(60)) // an endpoint that caches needs some time
		}
	}
	if at(c, "uptime_tests/check_list").Len() == 0 {
		c.Delete("uptime_tests", "disabled") // there is nothing to test
	}
	for _, discovery := range []string{"proxy/service_discovery", "uptime_tests/config/service_discovery"} {
		if n := at(c, discovery); n.Get("cache_disabled").True() {
			n.Delete("cache_timeout")
		}
	}
	for _, name := range c.Get("auth_configs").Names() {
		if slot := prune(c.Get("auth_configs", name)); slot.Len() == 1 && slot.Get("disable_header").True() {
			c.Delete("auth_configs", name)
		}
	}
	for domain, keys := range c.Get("pinned_public_keys").Members() {
		named := slices.DeleteFunc(strings.Split(keys.Text(), ","), func(key string) bool { return key == "" })
		c.Put(doc.NewString(strings.Join(named, ",")), "pinned_public_keys", domain)
	}
	if targets := at(c, "proxy/target_list").Texts(); len(targets) > 0 { // taken in turn: their order does not matter
		slices.Sort(targets)
		c.Put(doc.NewStrings(targets), "proxy", "target_list")
	}
	return prune(c)
}

// idle reports whether an entry has only its endpoint and the members common to all entries.
func idle(e *doc.Node) bool {
	e = e.Clone()
	for _, name := range []string{"path", "method", "disabled", "act_on", "function_source_type", "disable_half_open_state"} {
		e.Delete(name)
	}
	e.Delete("template_data", "enable_session")
	e.Delete("template_data", "template_mode")
	return prune(e).Len() == 0
}
