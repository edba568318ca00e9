package sync

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/policy"
)

// mark is the prefix of the tag of a policy that a product has left behind, followed by the
// product's CID. It is a tag, because dashboards store tags unchanged.
const mark = "portal-left-"

// ClientTag begins the tag of a policy that a portal has made for a client of gateways; the
// CID of the provider follows.
const ClientTag = "portal-clients-"

// Read says what the document of a policy is to a portal, and which of its APIs do not
// exist. select is PoliciesTags of the provider: when it names any, only policies that
// carry one of them count.
func Read(n *doc.Node, apis Index, selected []string) (p Policy, stale []string) {
	p.Ref = Ref{ObjectID: n.Get("_id").Text(), ID: n.Get("id").Text()}
	is := func(partition string) bool { return n.Get("partitions", partition).True() }
	switch limits := is("quota") || is("rate_limit"); {
	case is("acl") && !limits && !is("complexity") && !is("per_api"):
		p.Kind = KindProduct
	case !is("acl") && limits:
		p.Kind = KindPlan
	default:
		p.Kind = KindNone
	}
	own, left := tags(n)
	// Without its plan such a policy sets no limits, as the policy of a product.
	if slices.ContainsFunc(own, func(t string) bool { return strings.HasPrefix(t, ClientTag) }) {
		p.Kind = KindNone
	}
	if len(selected) > 0 && !slices.ContainsFunc(own, func(t string) bool { return slices.Contains(selected, t) }) {
		p.Kind = KindNone
	}
	rights := n.Get(memberRights)
	_, unread := apis[UnreadProxies.ID]
	for id, definition := range rights.Members() {
		a, known := apis[id]
		if a.Proxy || !known && unread || policy.GrantsMCP(definition) {
			p.Kind = KindNone
		}
	}
	p.Terms.Name = n.Get("name").Text()
	for _, f := range byKind[p.Kind] {
		if f.read != nil {
			f.read(n, &p.Terms)
		}
	}
	if p.Kind == KindProduct {
		stale = access(rights, apis, &p.Terms)
		p.Stale = len(stale) > 0 && len(stale) == rights.Len()
		if p.Terms.Draft {
			p.Mark = left
		}
	}
	return p, stale
}

// access reads the existing APIs of a product. A draft keeps its rights, but offers no APIs.
func access(rights *doc.Node, apis Index, t *Terms) (stale []string) {
	var known []string
	for id := range rights.Members() {
		if _, ok := apis[id]; ok {
			known = append(known, id)
		} else {
			stale = append(stale, id)
		}
	}
	slices.Sort(known)
	if len(t.AuthTypes) == 0 {
		t.AuthTypes = apis.methods(known)
	}
	if !t.Draft {
		t.APIs = known
	}
	return stale
}

// tags returns the tags of a policy without its mark, and the CID in the mark.
func tags(n *doc.Node) (list []string, left string) {
	for _, tag := range n.Get("tags").Texts() {
		if cid, ok := strings.CutPrefix(tag, mark); ok {
			left = cid
		} else {
			list = append(list, tag)
		}
	}
	return list, left
}

// methodsOf returns the authentication methods in a policy, sorted.
func methodsOf(n *doc.Node) []string {
	out := n.Get("auth_types").Texts()
	if one := n.Get("auth_type").Text(); one != "" {
		out = append(out, one)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Write updates the document of a policy to match p, and nothing else: other settings made in
// the dashboard stay. It reports whether this changed anything.
func Write(n *doc.Node, p Policy, apis Index) bool {
	have, _ := Read(n, apis, nil)
	changed := false
	for _, f := range byKind[p.Kind] {
		if f.write != nil && !f.same(&have.Terms, &p.Terms) {
			f.write(n, &p.Terms)
			changed = true
		}
	}
	if p.Kind == KindProduct && !p.Terms.Draft && (have.Terms.Draft || !slices.Equal(have.Terms.APIs, p.Terms.APIs)) {
		grant(n, p.Terms.APIs, apis)
		changed = true
	}
	if list, left := tags(n); left != p.Mark {
		if p.Mark != "" {
			list = append(list, mark+p.Mark)
		}
		n.Set("tags", doc.NewStrings(list))
		changed = true
	}
	return changed
}

// grant sets the APIs to which a policy gives access. An API that had access keeps its
// settings, and so does a currently missing one.
func grant(n *doc.Node, ids []string, apis Index) {
	rights := n.Get(memberRights)
	if !rights.Is(doc.TypeObject) {
		rights = doc.NewObject()
		n.Set(memberRights, rights)
	}
	for _, id := range rights.Names() {
		if _, known := apis[id]; known && !slices.Contains(ids, id) {
			rights.Delete(id)
		}
	}
	for _, id := range ids {
		if rights.Get(id).Is(doc.TypeObject) {
			continue
		}
		d := doc.NewObject()
		d.Set("api_id", doc.NewString(id))
		d.Set("api_name", doc.NewString(apis[id].Name))
		d.Set("versions", doc.NewStrings([]string{"Default"}))
		d.Set("allowed_urls", doc.NewArray())
		rights.Set(id, d)
	}
	list := doc.NewArray()
	for _, d := range rights.Members() {
		if d.Is(doc.TypeObject) {
			list.Append(d)
		}
	}
	n.Set(memberList, list)
}

// New makes the document of a policy, without identifiers, which the dashboard sets. org is
// the organisation at the dashboard, or "".
func New(p Policy, apis Index, org string) *doc.Node {
	n := doc.NewObject()
	if org != "" {
		n.Set("org_id", doc.NewString(org))
	}
	n.Set("active", doc.NewBool(true))
	n.Set("state", doc.NewString(stateActive))
	n.Set("is_inactive", doc.NewBool(false))
	n.Set("tags", doc.NewStrings(p.Terms.Tags))
	for _, name := range []string{"throttle_interval", "throttle_retry_limit"} {
		n.Set(name, doc.NewInt(-1))
	}
	for _, part := range []struct {
		name string
		of   Kind // KindNone: of no portal policy
	}{{"acl", KindProduct}, {"quota", KindPlan}, {"rate_limit", KindPlan}, {"complexity", KindNone}, {"per_api", KindNone}} {
		n.Put(doc.NewBool(part.of == p.Kind), "partitions", part.name)
	}
	for _, f := range byKind[p.Kind] {
		if f.write != nil {
			f.write(n, &p.Terms)
		}
	}
	if p.Kind == KindProduct {
		grant(n, p.Terms.APIs, apis)
	}
	return n
}
