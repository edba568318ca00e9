package policy

import (
	"bytes"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// defaults are the members that every policy is read with, in this order, and what
// they are when no client has written them.
var defaults = []struct{ name, value string }{
	{"rate", `0`}, {"per", `0`}, {"quota_max", `0`}, {"quota_renewal_rate", `0`}, {"throttle_interval", `0`}, {"throttle_retry_limit", `0`},
	{"max_query_depth", `0`}, {"smoothing", `null`}, {"access_rights", `{}`}, {"access_rights_array", `[]`},
	{"partitions", `{"quota":false,"rate_limit":false,"complexity":false,"acl":false,"per_api":false}`},
	{"hmac_enabled", `false`}, {"enable_http_signature_validation", `false`}, {"active", `false`}, {"is_inactive", `false`},
	{"state", `"active"`}, {"tags", `[]`}, {"meta_data", `{}`}, {"key_expires_in", `0`}, {"post_expiry_grace_period", `0`},
	{"graphql_enabled", `false`}, {"auth_type", `""`}, {"auth_types", `[]`},
}

// View is a policy as clients read it: the written members as they were written, with
// the lists that are null or that access definitions lack as [], and after them the
// others with their defaults.
type View struct{ policy Policy }

// View returns the policy as clients read it.
func (p Policy) View() View { return View{p} }

// Views returns policies as clients read them.
func Views(list []Policy) []View {
	out := make([]View, 0, len(list))
	for _, p := range list {
		out = append(out, p.View())
	}
	return out
}

// Size is about how many bytes the policy has as text.
func (v View) Size() int { return len(v.policy.text) + len(v.policy.facts.apis)*filled }

// filled is how many bytes the lists have that an access definition is read with, in
// access_rights and in access_rights_array.
const filled = 2 * len(`,"versions":[],"allowed_urls":[],"restricted_types":[],"allowed_types":[],"field_access_rights":[],"endpoints":[]`)

// AppendJSON implements doc.Appender.
func (v View) AppendJSON(b []byte) ([]byte, error) {
	text := bytes.TrimSpace(v.policy.text)
	written, _ := bytes.CutSuffix(text, []byte("}"))
	empty := len(bytes.TrimSpace(written)) == 1
	if v.policy.facts.gaps {
		b, _ = bytes.CutSuffix(Table.AppendListed(slices.Grow(b, v.Size()), text), []byte("}"))
	} else {
		b = append(b, written...)
	}
	for i, d := range defaults {
		if v.policy.facts.lacks&(1<<i) == 0 {
			continue
		}
		if !empty {
			b = append(b, ',')
		}
		empty = false
		b = append(append(doc.AppendString(b, d.name), ':'), d.value...)
	}
	return append(b, '}'), nil
}

// MarshalJSON implements json.Marshaler.
func (v View) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// unread removes from an edited document what it was read with besides the text, and
// what the edit has left alone: defaults, and lists of access definitions.
func (p Policy) unread(n, old, read *doc.Node) {
	for id, was := range old.Get("access_rights").Members() {
		is := n.Get("access_rights", id)
		if is.Equal(read.Get("access_rights", id)) {
			n.Get("access_rights").Set(id, was)
			continue
		}
		for _, name := range AccessDefinition.Lists() {
			if v := is.Get(name); was.Get(name) == nil && v.Is(doc.TypeArray) && v.Len() == 0 {
				is.Delete(name)
			}
		}
	}
	for i, d := range defaults {
		v := n.Get(d.name)
		if p.facts.lacks&(1<<i) == 0 || v == nil {
			continue
		}
		if zero, err := doc.ParseNode([]byte(d.value)); err == nil && v.Equal(zero) {
			n.Delete(d.name)
		}
	}
}

// Schema describes the wire form for the API description.
func (View) Schema() map[string]any {
	required := []string{"_id", "id", "org_id", "name", "last_updated"}
	for _, d := range defaults {
		required = append(required, d.name)
	}
	return schema(required...)
}
