package credential

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// ClientPolicy is the policy of one OAuth client of gateways. A client has one policy, but a
// credential gets its rights from several: those of its products and that of its plan. This
// policy combines them (docs/wire/portal-apps.md#clients-of-gateways).
type ClientPolicy struct {
	Client       string
	Org          string // organisation at the dashboard, or ""
	Mark         string // CID of the provider, by which the portal recognises its policies
	App          table.ID
	Organisation table.ID // of the developer
	Tags         []string // PoliciesTags of the provider
	Products     []*doc.Node
	Plan         *doc.Node // nil: the plan is gone
}

// clientPolicy begins the custom identifiers of the policies of clients.
const clientPolicy = "portal-client-"

// ID returns the custom identifier of the policy. It is derived from the client, so that a
// repeated attempt finds the policy of an earlier one.
func (p ClientPolicy) ID() string { return clientPolicy + p.Client }

// ClientOf returns the client and the app of a policy that a portal has made for a client,
// given the mark of the provider.
func ClientOf(n *doc.Node, mark string) (client string, app table.ID, ok bool) {
	for _, tag := range n.Get("tags").Texts() {
		if text, found := strings.CutPrefix(tag, AppTag); found {
			app, _ = table.ParseID(text)
		}
		ok = ok || mark != "" && tag == sync.ClientTag+mark
	}
	return strings.TrimPrefix(n.Get("id").Text(), clientPolicy), app, ok
}

// Write updates the document of the policy, and reports whether this changed anything. An
// empty object becomes the complete new policy. Without its products or its plan the policy
// gives no access, because an empty list of APIs or a missing limit would give everything.
func (p ClientPolicy) Write(n *doc.Node) bool {
	before := plain(n)
	all := slices.Clone(p.Products)
	if p.Plan != nil {
		all = append(all, p.Plan)
	}
	joined := key.Apply(doc.NewObject(), all)
	rights := doc.NewObject()
	for api, r := range joined.Get("access_rights").Members() {
		r = r.Clone()
		r.Delete("limit")
		rights.Set(api, r)
	}
	dead := p.Plan == nil || rights.Len() == 0 || joined.Get("is_inactive").True() ||
		slices.ContainsFunc(all, func(n *doc.Node) bool { return n.Get("state").Text() == "deny" })
	if n.Get("id").Text() == "" {
		n.Set("id", doc.NewString(p.ID()))
		if p.Org != "" {
			n.Set("org_id", doc.NewString(p.Org))
		}
		n.Set("name", doc.NewString("OAuth client "+p.Client))
		n.Set("active", doc.NewBool(true))
	}
	n.Set("state", doc.NewString("active"))
	n.Set("is_inactive", doc.NewBool(dead))
	n.Set("tags", doc.NewStrings(p.tags(joined.Get("tags").Texts())))
	meta := doc.NewObject()
	if m := joined.Get("meta_data"); m.Is(doc.TypeObject) {
		meta = m
	}
	n.Set("meta_data", meta)
	n.Put(doc.NewBool(true), "partitions", "acl")
	n.Put(doc.NewBool(false), "partitions", "per_api")
	for part, members := range key.Limits() {
		set := slices.ContainsFunc(all, func(n *doc.Node) bool { return n.Get("partitions", part).True() })
		n.Put(doc.NewBool(set), "partitions", part)
		for _, name := range members {
			if v := joined.Get(name); v.Is(doc.Absent, doc.TypeNull) {
				n.Delete(name)
			} else {
				n.Set(name, v)
			}
		}
	}
	if rights.Len() > 0 || n.Get("access_rights").Len() == 0 {
		list := doc.NewArray()
		for _, r := range rights.Members() {
			list.Append(r)
		}
		n.Set("access_rights", rights)
		n.Set("access_rights_array", list)
	}
	return before != plain(n)
}

// tags returns the tags of the policy: those of products and plan, and those that identify
// app, organisation and portal. Gateways label the calls of its tokens with them, as with
// keys.
func (p ClientPolicy) tags(more []string) (out []string) {
	for _, tag := range slices.Concat(p.Tags, more, []string{AppTag + p.App.String(), OrganisationTag + p.Organisation.String(), sync.ClientTag + p.Mark}) {
		if !slices.Contains(out, tag) {
			out = append(out, tag)
		}
	}
	return out
}

// said are the members by which two policies are compared.
var said = func() []string {
	out := []string{"state", "is_inactive", "tags", "meta_data", "partitions", "access_rights"}
	for _, members := range key.Limits() {
		out = append(out, members...)
	}
	return out
}()

// plain returns the non-empty values of a policy's document in canonical form, because
// dashboards store defaults too.
func plain(n *doc.Node) string {
	out := doc.NewObject()
	for _, name := range said {
		if v := pruned(n.Get(name)); v != nil {
			out.Set(name, v)
		}
	}
	return out.Canonical()
}

// pruned returns a value without members that are null, false, 0 or empty; nil if nothing is
// left.
func pruned(n *doc.Node) *doc.Node {
	switch n.Type() {
	case doc.TypeObject:
		out := doc.NewObject()
		for name, v := range n.Members() {
			if v = pruned(v); v != nil {
				out.Set(name, v)
			}
		}
		if out.Len() == 0 {
			return nil
		}
		return out
	case doc.TypeArray:
		if n.Len() == 0 {
			return nil
		}
		out := doc.NewArray()
		for _, v := range n.Items() {
			if v = pruned(v); v == nil {
				v = doc.NewNull()
			}
			out.Append(v)
		}
		return out
	case doc.TypeString:
		if n.Text() == "" {
			return nil
		}
	case doc.TypeNumber:
		if n.Float() == 0 {
			return nil
		}
	case doc.TypeBool:
		if !n.True() {
			return nil
		}
	default:
		return nil
	}
	return n
}

// ClientState is the portal's data about the client of a credential. It is not secret.
type ClientState struct {
	Policy sync.Ref
	APIs   []string // APIs that have the client, sorted
}

// CodeRedirects is the code of the fault for redirect URLs that gateways cannot store.
const CodeRedirects = Kind + ".redirects"

// JoinRedirects joins redirect URLs in the form for gateways. Without a separator gateways
// accept only one.
func JoinRedirects(list []string, separator string) (string, error) {
	if separator == "" && len(list) > 1 {
		return "", fault.New(fault.Invalid, CodeRedirects, "RedirectURLs has several addresses, and gateways take one of each client: an administrator sets oauth_redirect_uri_separator, there and here")
	}
	for _, address := range list {
		if separator != "" && strings.Contains(address, separator) {
			return "", fault.New(fault.Invalid, CodeRedirects, "RedirectURLs has an address with %q, which separates addresses at gateways", separator)
		}
	}
	return strings.Join(list, separator), nil
}
