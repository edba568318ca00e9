package apidef_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/integrity"
)

// TestRefs: the places of references to webhooks and policies. Each reference counts once,
// with its first place; a value without an identifier is not a reference.
func TestRefs(t *testing.T) {
	for name, c := range map[string]struct{ definition, wrapper, want string }{
		"nothing": {`{}`, ``, ``},
		"event handlers": {`{"event_handlers":{"events":{"Quota":[{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h1"}},
			{"handler_name":"eh_log_handler","handler_meta":{"id":"h2"}},{"handler_name":"eh_web_hook_handler","handler_meta":{"target_path":"x"}}]}}}`, ``,
			`webhook h1 api_definition.event_handlers.events.Quota`},
		"references of the wrapper": {`{}`, `{"hook_references":[{"event_name":"E","hook":{"id":"h1"}},{"hook":{"id":"h2"}},{"hook":{}},{}]}`,
			`webhook h1 hook_references, webhook h2 hook_references`},
		"one webhook in two places": {`{"event_handlers":{"events":{"E":[{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h1"}}]}}}`,
			`{"hook_references":[{"hook":{"id":"h1"}}]}`, `webhook h1 api_definition.event_handlers.events.E`},
		"policies of tokens": {`{"jwt_default_policies":["p1","","p2","p1"],"jwt_scope_to_policy_mapping":{"read":"p3","none":"","odd":5}}`, ``,
			`policy p1 api_definition.jwt_default_policies, policy p2 api_definition.jwt_default_policies, policy p3 api_definition.jwt_scope_to_policy_mapping.read`},
		"policies of scopes": {`{"scopes":{"jwt":{"scope_to_policy":{"r":"p1"}},"oidc":{"scope_to_policy":{"w":"p2"}},"odd":5,"none":null}}`, ``,
			`policy p1 api_definition.scopes.jwt.scope_to_policy.r, policy p2 api_definition.scopes.oidc.scope_to_policy.w`},
		"a policy and a webhook of one ID": {`{"jwt_default_policies":["x"]}`, `{"hook_references":[{"hook":{"id":"x"}}]}`,
			`webhook x hook_references, policy x api_definition.jwt_default_policies`},
		"members of wrong types": {`{"event_handlers":{"events":{"E":{"handler_name":"eh_web_hook_handler"}}},"jwt_default_policies":"p","scopes":[],"jwt_scope_to_policy_mapping":[]}`,
			`{"hook_references":null}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range made(t, apidef.Classic, c.definition, c.wrapper).Refs() {
				got = append(got, r.Kind+" "+r.ID+" "+r.Field)
				if r.OnDelete != integrity.Tolerate {
					t.Errorf("%v keeps its target from being deleted", r)
				}
			}
			if have := strings.Join(got, ", "); have != c.want {
				t.Errorf("have %s\nwant %s", have, c.want)
			}
		})
	}
}

// hook returns a function that finds one webhook.
func hook(id, text string) func(string) (json.RawMessage, bool) {
	return func(asked string) (json.RawMessage, bool) {
		if asked != id {
			return nil, asked == "gone"
		}
		return json.RawMessage(text), false
	}
}

func TestEmbed(t *testing.T) {
	for name, c := range map[string]struct {
		references, text, want string
		changed                bool
	}{
		"an older copy":          {`[{"event_name":"E","hook":{"id":"h1","name":"old"},"event_timeout":5}]`, `{"id":"h1","name":"new"}`, `[{"event_name":"E","hook":{"id":"h1","name":"new"},"event_timeout":5}]`, true},
		"no more than an ID":     {`[{"hook":{"id":"h1"}}]`, `{"id":"h1","name":"new"}`, `[{"hook":{"id":"h1","name":"new"}}]`, true},
		"the copy is right":      {`[{"hook":{"name":"new","id":"h1"}}]`, `{"id":"h1","name":"new"}`, `[{"hook":{"name":"new","id":"h1"}}]`, false},
		"a webhook that is gone": {`[{"hook":{"id":"gone","name":"old"}},{"hook":{"id":"h1"}}]`, `{"id":"h1"}`, `[{"hook":{"id":"h1"}}]`, true},
		"another webhook":        {`[{"hook":{"id":"h2","name":"old"}}]`, `{"id":"h1"}`, `[{"hook":{"id":"h2","name":"old"}}]`, false},
		"one of two":             {`[{"hook":{"id":"h2"}},{"hook":{"id":"h1"}}]`, `{"id":"h1","name":"n"}`, `[{"hook":{"id":"h2"}},{"hook":{"id":"h1","name":"n"}}]`, true},
		"a webhook of no form":   {`[{"hook":{"id":"h1"}}]`, `{`, `[{"hook":{"id":"h1"}}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := made(t, apidef.Classic, `{}`, `{"hook_references":`+c.references+`}`)
			b, changed := a.Embed(hook("h1", c.text))
			if changed != c.changed || string(b.HookReferences()) != c.want {
				t.Errorf("%v, %s", changed, b.HookReferences())
			}
			if string(a.HookReferences()) != c.references {
				t.Errorf("the original became %s", a.HookReferences())
			}
			if _, again := b.Embed(hook("h1", c.text)); again {
				t.Error("the second time changes something")
			}
		})
	}
	if _, changed := made(t, apidef.Classic, `{}`, ``).Embed(hook("h1", `{}`)); changed {
		t.Error("an API without references changed")
	}
}

func TestAbridged(t *testing.T) {
	for wrapper, want := range map[string]bool{
		``:                         false,
		`{"hook_references":null}`: false,
		`{"hook_references":[{"hook":{"id":"h1"}}]}`:                                  true,
		`{"hook_references":[{"hook":{"id":"h1","name":"n"}},{"hook":{"id":"h2"}}]}`:  true,
		`{"hook_references":[{"hook":{"id":"h1","name":"n"}}]}`:                       false,
		`{"hook_references":[{"hook":{"name":"n"}},{"hook":{"id":""}},{"hook":"h"}]}`: false,
	} {
		if got := made(t, apidef.Classic, `{}`, wrapper).Abridged(); got != want {
			t.Errorf("%s: %v", wrapper, got)
		}
	}
}

// TestQuiet: which changes concern gateways. A rewrite always does; changes of owners and
// categories do not.
func TestQuiet(t *testing.T) {
	a, later := made(t, apidef.OAS, `{"name":"x"}`, ""), at.Add(time.Hour)
	quiet := map[string]apidef.API{
		"owners": a.WithOwners([]string{"u"}, nil, later), "categories": a.WithCategories([]string{"c"}, later), "by request": a.Quietly(),
	}
	for name, b := range quiet {
		if !b.Quiet() {
			t.Errorf("%s: gateways reload", name)
		}
		rewritten, err := b.Rewrite(apidef.Draft{Definition: doctest.Node(t, `{}`)}, later)
		if err != nil || rewritten.Quiet() {
			t.Errorf("%s, then a rewrite: quiet, %v", name, err)
		}
		if touched := b.Touched(later); touched.Quiet() || !touched.Updated().Equal(later) {
			t.Errorf("%s, then a touch: quiet %v at %v", name, touched.Quiet(), touched.Updated())
		}
	}
	if a.Quiet() || !a.Updated().Equal(at) {
		t.Error("the original changed")
	}
}

// TestTexts: the caller owns the trees.
func TestTexts(t *testing.T) {
	for _, class := range []apidef.Class{apidef.Classic, apidef.OAS} {
		a := made(t, class, `{"name":"x"}`, "")
		if a.Class() != class {
			t.Errorf("the class is %s", a.Class())
		}
		before := slices.Concat(a.Definition(), a.Document())
		definition, document, err := a.Texts()
		if err != nil || (document == nil) != (class == apidef.Classic) {
			t.Fatalf("%s: %v, %v", class, document, err)
		}
		if string(definition.JSON()) != string(a.Definition()) || document != nil && string(document.JSON()) != string(a.Document()) {
			t.Errorf("%s: %s, %s", class, definition.JSON(), document.JSON())
		}
		definition.Set("name", doctest.Node(t, `"y"`))
		if document != nil {
			document.Set("openapi", doctest.Node(t, `"9"`))
		}
		if string(slices.Concat(a.Definition(), a.Document())) != string(before) || a.Name() != "x" {
			t.Errorf("%s: editing a tree changed the API", class)
		}
	}
}
