package policy

import (
	"bytes"

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

// lacking notes which defaults a document has no member for, a bit for each.
func lacking(o doc.Object) (bits uint32) {
	for i, d := range defaults {
		if _, ok := o.Get(d.name); !ok {
			bits |= 1 << i
		}
	}
	return bits
}

// View is a policy as clients read it: the written members as they were written, but
// for lists that are null, which are [], and after them the others with their defaults.
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
func (v View) Size() int { return len(v.policy.text) }

// AppendJSON implements doc.Appender.
func (v View) AppendJSON(b []byte) ([]byte, error) {
	text := v.policy.text
	if v.policy.facts.nulls {
		n, err := v.policy.Node()
		if err != nil {
			return nil, err
		}
		for _, name := range Table.Lists() {
			if n.Get(name).Is(doc.TypeNull) {
				n.Set(name, doc.NewArray())
			}
		}
		text = n.JSON()
	}
	written, _ := bytes.CutSuffix(bytes.TrimSpace(text), []byte("}"))
	b = append(b, written...)
	empty := len(bytes.TrimSpace(written)) == 1
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

// unread removes from an edited document the defaults that it was read with and
// that the edit has left alone.
func (p Policy) unread(n *doc.Node) {
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
