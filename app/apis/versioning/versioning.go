// Package versioning creates and deletes APIs and maintains versions: a base has the
// routing table to its child versions, whose addresses follow from that of the base.
package versioning

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/pairing"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Service creates, changes and deletes versions.
type Service struct {
	APIs  *apis.Repository
	Forms *forms.Forms
	// MaxText bounds the texts, in bytes, of all versions whose addresses follow one
	// change; 0: 256 MiB.
	MaxText int
}

// NewVersion is the query parameters that make a new API a version of another one.
type NewVersion struct {
	Base    string `query:"base_api_id" doc:"Identifier of an API. The new API becomes a version of it."`
	BaseAs  string `query:"base_api_version_name" doc:"Version name of the base. Required for the first child of a base."`
	Version string `query:"new_version_name" doc:"Version name of the new API. Required with base_api_id."`
	Default bool   `query:"set_default" doc:"true: the new version becomes the default."`
}

// Codes of the faults for a base_api_id that is no API of the same family, or an API of
// another organisation.
const (
	CodeBase        = apidef.Kind + ".base"
	CodeForeignBase = apidef.Kind + ".foreign_base"
)

const textBase = "Could not retrieve detail of apiID %s in org %s."

// Faults are the faults of all operations that can create a version.
var Faults = []string{CodeBase, CodeForeignBase, versions.CodeName, versions.CodeBaseName, versions.CodeDuplicate, versions.CodeItself, versions.CodeTooLarge}

// Create stores a new API whose parts have been checked, as a version of another one if
// in says so. With ownership, a caller who is not an admin becomes the owner of the API
// unless the request names owners.
func (s *Service) Create(ctx context.Context, scope tenant.Scope, who operation.Principal, d apidef.Draft, in NewVersion) (a apidef.API, at store.Serial, err error) {
	now := s.APIs.Now()
	at, err = store.Write(ctx, s.APIs.Store, scope, func(w store.Writer) (store.Serial, error) {
		mine := d // this function may run more than once
		mine.Definition, mine.Document = d.Definition.Clone(), d.Document.Clone()
		if err := pairing.Check(ctx, w, s.APIs, s.APIs.Viewer(who, apidef.MCP, access.Read), &mine); err != nil {
			return 0, err
		}
		if err := CheckTable(mine, nil); err != nil {
			return 0, err
		}
		k, err := s.Attach(ctx, w, who, mine, in)
		if err != nil {
			return 0, err
		}
		if mine.Document != nil {
			if err := s.Forms.Convert(&mine, mine.Definition, k); err != nil {
				return 0, err
			}
			if err := s.Forms.Writable(mine.Document, nil); err != nil {
				return 0, err
			}
		}
		if a, err = apidef.New(mine, now); err != nil {
			return 0, err
		}
		if err := s.APIs.Routes(ctx, w, nil, a, s.APIs.Viewer(who, d.Class, access.Write)); err != nil {
			return 0, err
		}
		if err := s.APIs.Acyclic(ctx, w, nil, a); err != nil {
			return 0, err
		}
		if users, groups := a.Owners(); s.APIs.Settings.Ownership && !who.Permissions.Admin() && len(users)+len(groups) == 0 {
			a = a.WithOwners(slices.Clip([]string{who.ID}), []string{}, a.Updated())
		}
		if at, err = s.APIs.Insert(ctx, w, a); err != nil {
			return 0, err
		}
		return at, s.Follow(ctx, w, a, nil, mine.Definition) // its table may have APIs that exist
	})
	return a, at, err
}

// Attach adds a new API to the routing table of the base that in names. Without one, a
// table may have the API already. It returns the link of the API.
func (s *Service) Attach(ctx context.Context, w store.Writer, who operation.Principal, d apidef.Draft, in NewVersion) (forms.Link, error) {
	if in.Base == "" {
		return s.linkOf(ctx, w, d.APIID)
	}
	base, err := s.APIs.Get(ctx, w, in.Base, s.APIs.Viewer(who, d.Class, access.Write))
	missing := fault.KindOf(err) == fault.NotFound
	if missing {
		elsewhere := false
		_, err := s.APIs.Kind.Get(ctx, w, in.Base)
		if fault.KindOf(err) == fault.NotFound { // otherwise it is of a class that the caller does not see
			elsewhere, err = s.APIs.Elsewhere(ctx, d.OrgID, in.Base)
		}
		switch {
		case err != nil:
			return forms.Link{}, err
		case elsewhere:
			return forms.Link{}, fault.New(fault.Denied, CodeForeignBase, textBase, in.Base, string(d.OrgID)).At("base_api_id")
		}
	}
	if missing || err == nil && !sameFamily(base.Value.Class(), d.Class) {
		return forms.Link{}, fault.New(fault.Invalid, CodeBase, textBase, in.Base, string(d.OrgID)).At("base_api_id")
	}
	if err != nil {
		return forms.Link{}, err
	}
	above, err := s.Base(ctx, w, base.Value)
	if err != nil {
		return forms.Link{}, err
	}
	if above != nil {
		return forms.Link{}, fault.New(fault.Invalid, CodeBase, "API %s is a version of another API and cannot have versions", in.Base).At("base_api_id")
	}
	n := versions.New{Name: in.Version, ID: d.APIID, BaseName: in.BaseAs, Default: in.Default}
	old, now, err := s.reroute(ctx, w, base.Value, func(t versions.Table) error { return t.Add(n) })
	if err != nil {
		return forms.Link{}, err
	}
	others, err := s.others(ctx, w, d.APIID, base.Value.ID(), nil) // tables may have the new API already
	return forms.Link{Base: now, OldBase: old, Version: in.Version, Others: others}, err
}

// sameFamily reports whether an API of one class can be a version of an API of another.
func sameFamily(base, child apidef.Class) bool {
	if base == apidef.Classic || child == apidef.Classic || base == apidef.MCP || child == apidef.MCP {
		return base == child
	}
	return true
}

// Base returns an API that routes to a child version, or nil. Earlier releases may have
// stored tables with the API itself; such an entry is ignored.
func (s *Service) Base(ctx context.Context, r store.Reader, child apidef.API) (*apidef.API, error) {
	return s.baseOf(ctx, r, child.APIID())
}

func (s *Service) baseOf(ctx context.Context, r store.Reader, id string) (*apidef.API, error) {
	for b, err := range s.APIs.Kind.Find(ctx, r, store.Query{Index: apis.ByChild, Value: store.Indexed(id), Limit: 2}) {
		if err != nil || b.Value.APIID() != id {
			return &b.Value, err
		}
	}
	return nil, nil
}

// CheckTable refuses a draft whose routing table is corrupt, in either of its forms. It
// accepts a corrupt table that is stored already, so that the rest of its API can be
// changed; before is the stored API, nil for a new one.
func CheckTable(d apidef.Draft, before *apidef.API) error {
	now := [2]versions.Table{versions.InDocument(d.Document), versions.InDefinition(d.Definition)}
	err := cmp.Or(now[0].Check(d.APIID), now[1].Check(d.APIID))
	if err == nil || before == nil || before.APIID() != d.APIID {
		return err
	}
	definition, document, err := before.Texts()
	if err != nil {
		return err
	}
	for i, was := range [2]versions.Table{versions.InDocument(document), versions.InDefinition(definition)} {
		if err := now[i].Check(d.APIID); err != nil && (!now[i].Equal(was) || now[i].Name() != was.Name()) {
			return err
		}
	}
	return nil
}

// Link returns what the addresses of a stored API depend on.
func (s *Service) Link(ctx context.Context, r store.Reader, a apidef.API) (forms.Link, error) {
	return s.linkOf(ctx, r, a.APIID())
}

func (s *Service) linkOf(ctx context.Context, r store.Reader, id string) (forms.Link, error) {
	all, err := s.others(ctx, r, id, "", nil)
	if err != nil || len(all) == 0 {
		return forms.Link{}, err
	}
	return forms.Link{Base: all[0], OldBase: all[0], Others: all[1:]}, nil
}

// children returns the child versions of a base that exist. It leaves out the base
// itself, and IDs that no store could have.
func (s *Service) children(ctx context.Context, r store.Reader, base apidef.API, ids []string) ([]apidef.API, error) {
	var out []apidef.API
	for _, id := range ids {
		if id == base.APIID() || strings.ContainsRune(id, 0) {
			continue
		}
		c, err := s.APIs.Named(ctx, r, id)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out = append(out, *c)
		}
	}
	return out, nil
}

// Renamed changes the API ID of a child version in the routing tables of its bases.
func (s *Service) Renamed(ctx context.Context, w store.Writer, before, after apidef.API) error {
	if before.APIID() == after.APIID() {
		return nil
	}
	return s.rerouteTo(ctx, w, before, "", func(t versions.Table) { t.Rename(before.APIID(), after.APIID()) })
}

// rerouteTo changes the routing tables of all bases of a child version, except that of
// the base called going, which is about to be deleted ("": none is).
func (s *Service) rerouteTo(ctx context.Context, w store.Writer, child apidef.API, going string, edit func(versions.Table)) error {
	bases, err := store.Collect(s.APIs.Kind.Find(ctx, w, store.Query{Index: apis.ByChild, Value: store.Indexed(child.APIID())}))
	if err != nil {
		return err
	}
	for _, b := range bases {
		if id := b.Value.APIID(); id == child.APIID() || id == going {
			continue
		}
		if _, _, err := s.reroute(ctx, w, b.Value, func(t versions.Table) error { edit(t); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// reroute changes the routing table of a base, and the addresses of the versions in the
// table. It returns the classic definition before and after. The base is not announced:
// gateways get the signal about the version, and load the base with it.
func (s *Service) reroute(ctx context.Context, w store.Writer, base apidef.API, edit func(versions.Table) error) (old, now *doc.Node, err error) {
	if old, _, err = base.Texts(); err != nil {
		return nil, nil, err
	}
	k, err := s.Link(ctx, w, base)
	if err != nil {
		return nil, nil, err
	}
	var after apidef.API
	_, err = s.APIs.Kind.Edit(ctx, w, base.APIID(), nil, func(a apidef.API) (apidef.API, error) {
		d := apidef.Draft{Class: a.Class()}
		if d.Definition, d.Document, err = a.Texts(); err != nil {
			return a, err
		}
		if d.Document == nil {
			err = edit(versions.InDefinition(d.Definition))
		} else if err = edit(versions.InDocument(d.Document)); err == nil {
			err = s.Forms.Convert(&d, old, k)
		}
		if err == nil {
			after, err = a.Rewrite(d, s.APIs.Now())
		}
		return after.Quietly(), err
	})
	if err != nil {
		return nil, nil, err
	}
	if now, _, err = after.Texts(); err != nil {
		return nil, nil, err
	}
	return old, now, s.Follow(ctx, w, after, old, now)
}

// Follow updates the addresses of child versions after a change of their base: of all
// versions if the change affects all, otherwise of versions that were added to the
// table, removed from it, or renamed in it.
func (s *Service) Follow(ctx context.Context, w store.Writer, base apidef.API, old, now *doc.Node) error {
	was, is, all := routed(old), routed(now), servers.ChildrenAffected(old, now)
	affected := map[string]bool{}
	for _, table := range []map[string]string{was, is} {
		for id := range table {
			if all || was[id] != is[id] {
				affected[id] = true
			}
		}
	}
	return s.readdress(ctx, w, base, slices.Sorted(maps.Keys(affected)), old, now)
}

// routed returns, by API, the name under which a base routes to it; of several names
// the first one.
func routed(base *doc.Node) map[string]string {
	out, table := map[string]string{}, versions.InDefinition(base)
	if !table.Enabled() {
		return out
	}
	for _, c := range table.Children() {
		if _, twice := out[c.ID]; !twice {
			out[c.ID] = c.Name
		}
	}
	return out
}

// readdress replaces the addresses of APIs that followed from the old classic
// definition of a base by those of the new one, nil if the base is deleted. A base
// whose table is off has no addresses for versions.
func (s *Service) readdress(ctx context.Context, w store.Writer, base apidef.API, ids []string, old, now *doc.Node) error {
	in := servers.Input{Config: s.Forms.Hosts}
	if versions.InDefinition(old).Enabled() {
		in.OldBase = old
	}
	if versions.InDefinition(now).Enabled() {
		in.Base = now
	}
	children, err := s.children(ctx, w, base, ids)
	if err != nil {
		return err
	}
	known := map[string]*doc.Node{}
	text, most := 0, cmp.Or(s.MaxText, 256<<20)
	for _, c := range children {
		def, document, err := c.Addresses()
		if err != nil {
			return err
		}
		if document == nil {
			continue
		}
		if in.Others, err = s.othersBut(ctx, w, c.APIID(), base, now != nil, known); err != nil {
			return err
		}
		before := document.Get("servers")
		in.New, in.Old = def, def
		if err := servers.Merge(document, in); err != nil {
			return err
		}
		list := document.Get("servers")
		if list.Equal(before) {
			continue
		}
		if text += c.Size(); text > most { // each is stored as a whole
			return fault.New(fault.Invalid, versions.CodeTooLarge, "the versions that get other addresses have more than %d MiB of text in all: "+
				"take some of them out of the table first, a few at a time", most>>20).At("versions")
		}
		if _, err = s.APIs.Kind.Edit(ctx, w, c.APIID(), nil, func(a apidef.API) (apidef.API, error) { return a.WithServers(list) }); err != nil {
			return err
		}
	}
	return nil
}
