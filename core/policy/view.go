package policy

import (
	"bytes"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// defaults are the members that every policy has when it is read, in this order, with their
// values when no client has written them.
var defaults = []struct{ name, value string }{
	{"rate", `0`}, {"per", `0`}, {"quota_max", `0`}, {"quota_renewal_rate", `0`}, {"throttle_interval", `0`}, {"throttle_retry_limit", `0`},
	{"max_query_depth", `0`}, {"smoothing", `null`}, {"access_rights", `{}`}, {"access_rights_array", `[]`},
	{"partitions", `{"quota":false,"rate_limit":false,"complexity":false,"acl":false,"per_api":false}`},
	{"hmac_enabled", `false`}, {"enable_http_signature_validation", `false`}, {"active", `false`}, {"is_inactive", `false`},
	{"state", `"active"`}, {"tags", `[]`}, {"meta_data", `{}`}, {"key_expires_in", `0`}, {"post_expiry_grace_period", `0`},
	{"graphql_enabled", `false`}, {"auth_type", `""`}, {"auth_types", `[]`},
}

// View is a policy in its form for clients: the written members unchanged, with lists that are
// null or missing in access definitions as [], and then the other members with their defaults.
type View struct{ policy Policy }

// View returns the policy in its form for clients.
func (p Policy) View() View { return View{p} }

// Views returns policies in their form for clients.
func Views(list []Policy) []View {
	out := make([]View, 0, len(list))
	for _, p := range list {
		out = append(out, p.View())
	}
	return out
}

// Size returns the approximate size of the policy as text, in bytes.
func (v View) Size() int { return len(v.policy.text) + len(v.policy.facts.apis)*filled }

// filled is the size in bytes of the lists that reads add to an access definition, in
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

// unread removes from an edited document the values that reads add and the edit has not
// changed: defaults, and lists of access definitions.
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
