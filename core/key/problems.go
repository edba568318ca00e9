package key

import (
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/policy"
)

// Problem is a reason why gateways refuse a key, and what to do about it.
type Problem struct {
	Code   string `json:"code"`
	Policy string `json:"policy,omitempty"`
	Text   string `json:"text"`
	Fix    string `json:"fix"`
}

// Codes of problems (docs/wire/effective-rights.md#problems).
const (
	ProblemMissing  = "policy_missing"
	ProblemDenied   = "policy_denied"
	ProblemDraft    = "policy_draft"
	ProblemInactive = "policy_inactive"
	ProblemMixed    = "policies_mixed"
	ProblemKey      = "key_inactive"
	ProblemExpired  = "key_expired"
	ProblemRights   = "no_rights"
)

// Carried are the policies of a session, in its order.
type Carried struct {
	IDs   []string
	Known map[string]policy.Policy // the existing ones
}

// CarriedBy returns the policies of a session; known are the existing ones.
func CarriedBy(session *doc.Node, known map[string]policy.Policy) Carried {
	return Carried{Policies(session), known}
}

// Burden returns the total size of the policies.
func (c Carried) Burden() (b Burden) {
	for _, id := range c.IDs {
		if p, ok := c.Known[id]; ok {
			b.Rights, b.Bytes = b.Rights+len(p.APIs()), b.Bytes+p.Size()
		}
	}
	return b
}

// Applied returns the policies that gateways have, decoded.
func (c Carried) Applied() (out []*doc.Node) {
	for _, id := range c.IDs {
		if p, ok := c.Known[id]; ok && p.Published() {
			if n, err := p.Node(); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// Problems returns the problems of a key's policies.
func (c Carried) Problems() (out []Problem) {
	for _, id := range c.IDs {
		p, ok := c.Known[id]
		var n *doc.Node
		if ok {
			n, _ = p.Node() // it was decoded before
		}
		add := func(code, text, fix string) {
			out = append(out, Problem{code, id, fmt.Sprintf(text, id), fix})
		}
		switch {
		case !ok:
			add(ProblemMissing, "there is no policy %q", "create a policy with this id, or take it from the key's apply_policies")
		case !p.Published():
			add(ProblemDenied, "gateways do not get the policy %q: its state is deny", "set the state of the policy to active, or take it from the key's apply_policies")
		case p.State() == policy.StateDraft:
			add(ProblemDraft, "the policy %q is a draft", "set the state of the policy to active")
		case n.Get("is_inactive").True():
			add(ProblemInactive, "the policy %q is inactive", "set is_inactive of the policy to false")
		}
	}
	if Mixed(c.Applied()) {
		out = append(out, Problem{ProblemMixed, "", "policies with limits for each API do not go with policies that set single parts", "take either sort from the key's apply_policies"})
	}
	return out
}

// Problems returns why gateways refuse a key with these policies; none: they accept it at the
// APIs to which it has rights.
func (e Effect) Problems(c Carried, now time.Time) []Problem {
	out := c.Problems()
	expires := e.Session.Get("expires").Int()
	switch {
	case e.Session.Get("is_inactive").True() && len(out) == 0:
		out = append(out, Problem{ProblemKey, "", "the key is inactive", "set is_inactive of the key to false"})
	case expires > 0 && expires < now.Unix():
		out = append(out, Problem{ProblemExpired, "", "the key has expired", "set expires of the key to a later time, or to 0"})
	}
	if len(c.IDs) == 0 && len(APIs(e.Session)) == 0 {
		out = append(out, Problem{ProblemRights, "", "the key names neither an API nor a policy", "give it access_rights or apply_policies"})
	}
	return out
}
