package apps

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/mails"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// The kinds of findings.
const (
	KeyAlone        = "key without credential"
	CredentialAlone = "credential without key" //nolint:gosec // it is a finding
	ProviderAway    = "provider away"
	ClientAlone     = "client without credential"
	ClientLacking   = "credential without client" //nolint:gosec // it is a finding
	ClientAstray    = "client astray"
	MappingAlone    = "mapping without product"
	MappingLacking  = "product without mapping"
	MailUnsent      = "mail never sent"
	RecordAlone     = "record without certificate"
	RecordHidden    = "certificate without record"
	UseAlone        = "credential without certificate"
	ListLacking     = "list without certificate"
	KeyLacking      = "key without certificate"
)

// Finding is one inconsistency.
type Finding struct {
	Finding    string   `json:"Finding" doc:"Kind of the problem: key without credential, credential without key, client without credential, credential without client, client astray, mapping without product, product without mapping, provider away, mail never sent, record without certificate, certificate without record, credential without certificate, list without certificate, key without certificate."`
	ProviderID table.ID `json:"ProviderID"`
	// OAuthProviderID is set for findings about an identity provider.
	OAuthProviderID table.ID `json:"OAuthProviderID,omitzero" doc:"Identity provider of a client or mapping."`
	AppID           table.ID `json:"AppID"`
	CredentialID    table.ID `json:"CredentialID" doc:"Credential; 0: none."`
	Alias           string   `json:"Alias" doc:"Alias of the key; identifier of a client; registry entry of a mapping; kind of a mail; name of a certificate; API of a certificate list."`
	Fixed           bool     `json:"Fixed"`
	Message         string   `json:"Message" doc:"Why the problem could not be examined or fixed."`

	key    dashboard.KeyName
	client *leftover
	mail   string
}

// done returns the finding after an attempt to fix it.
func (f Finding) done(err error) Finding {
	if f.Fixed = err == nil; err != nil {
		f.Message = message(err)
	}
	return f
}

// Diagnosis is the result of an examination.
type Diagnosis struct {
	Findings []Finding `json:"Findings"`
}

var exampleDiagnosis = Diagnosis{[]Finding{{Finding: KeyAlone, ProviderID: 1, AppID: 2, Alias: "Checkout (2)", Fixed: true}}}

type examined struct{ Scope tenant.Scope }

func (s *Service) doctorRows() []operation.Operation {
	notes := "The following records are examined: keys with the tags of the portal and with policies of its products and plans; clients that the portal has registered or created at gateways; registry mappings that the portal has written; certificates that administrators manage. Apps with a running operation are skipped."
	return portal.Group("portal-doctor", "/doctor", "operations").Rows(
		operation.GET("get", "", "List inconsistent keys, clients, credentials, mappings, certificates and mails", func(ctx context.Context, in examined) (Diagnosis, error) {
			return s.Examine(ctx, in.Scope, false)
		}, operation.Notes(notes), operation.Example(nil, exampleDiagnosis)),
		operation.PUT("fix", "/fix", "Repair inconsistent keys, clients, credentials, mappings, certificates and mails", func(ctx context.Context, in examined) (Diagnosis, error) {
			return s.Examine(ctx, in.Scope, true)
		}, operation.Notes(notes), operation.Example(nil, exampleDiagnosis)),
	)
}

// Examine compares the credentials of the portal with the keys of its dashboards. With
// fix it deletes credentials and keys without a counterpart.
func (s *Service) Examine(ctx context.Context, scope tenant.Scope, fix bool) (Diagnosis, error) {
	out := Diagnosis{[]Finding{}}
	var all []provider.Provider
	err := s.Store.View(ctx, scope, func(r store.Reader) (err error) {
		all, err = store.Collect(portal.All(ctx, r, providers.Kind, 0))
		return err
	})
	if err != nil {
		return out, err
	}
	for i, p := range all {
		look, done := issuers.Share(ctx, len(all)-i+1) // registries are checked afterwards
		found, err := s.examine(look, scope, p.ID)
		done()
		if err != nil {
			found = []Finding{{Finding: ProviderAway, ProviderID: p.ID, Message: message(issuers.Explain(err))}}
		}
		for _, f := range found {
			if fix && f.Finding != ProviderAway {
				f = s.fix(ctx, scope, f)
			}
			out.Findings = append(out.Findings, f)
		}
		if err != nil {
			continue
		}
		if found, err = s.certified(ctx, scope, p.ID, fix); err != nil {
			found = []Finding{{Finding: ProviderAway, ProviderID: p.ID, Message: message(issuers.Explain(err))}}
		}
		out.Findings = append(out.Findings, found...)
	}
	for _, look := range []func(context.Context, tenant.Scope, bool) ([]Finding, error){s.logins, s.unsent} {
		found, err := look(ctx, scope, fix)
		if err != nil {
			return out, err
		}
		out.Findings = append(out.Findings, found...)
	}
	return out, nil
}

// unsent returns the mails that were given up; with fix it deletes them. Their content
// is gone: they cannot be sent any more.
func (s *Service) unsent(ctx context.Context, scope tenant.Scope, fix bool) (out []Finding, err error) {
	look := func(r store.Reader) error {
		all, err := mails.All(ctx, r)
		out = nil
		for _, m := range all {
			if m.State == letter.Failed {
				out = append(out, Finding{Finding: MailUnsent, Alias: m.Notice, Message: m.LastFail, mail: m.ID})
			}
		}
		return err
	}
	if err := s.Store.View(ctx, scope, look); err != nil || !fix || len(out) == 0 {
		return out, err
	}
	_, err = s.Store.Update(ctx, scope, func(w store.Writer) error {
		if err := look(w); err != nil {
			return err
		}
		for i := range out {
			if err := mails.Forget(ctx, w, out[i].mail); err != nil {
				return err
			}
			out[i].Fixed = true
		}
		return nil
	})
	return out, err
}

// halves are the credentials and keys of one provider.
type halves struct {
	keys        []dashboard.Key // keys with the tags and policies of the portal
	credentials []credential.Credential
	secrets     map[table.ID]credential.Values
	given       names // of the credentials of all providers: two may lead to one dashboard
}

// names are texts and hashes of keys.
type names struct{ texts, hashes map[string]bool }

func newNames() names { return names{map[string]bool{}, map[string]bool{}} }

func (n names) add(text, hash string) { n.texts[text], n.hashes[hash] = true, true }

// has reports whether a key with this text or hash is in n.
func (n names) has(text, hash string) bool {
	return text != "" && n.texts[text] || hash != "" && n.hashes[hash]
}

// opens reports whether a key belongs to a credential.
func (h halves) opens(k dashboard.Key) bool { return h.given.has(k.ID, k.Hash) }

func (s *Service) examine(ctx context.Context, scope tenant.Scope, id table.ID) ([]Finding, error) {
	p, err := s.Open(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	keys, err := p.Dashboard.Keys(ctx)
	if err != nil {
		return nil, err
	}
	// A credential that is made meanwhile has a running saga, or is read now.
	var h halves
	if err := s.Store.View(ctx, scope, func(r store.Reader) error { return s.read(ctx, r, id, keys, &h) }); err != nil {
		return nil, err
	}
	var out []Finding
	for _, k := range h.keys {
		if h.opens(k) {
			continue
		}
		if app := appOf(k); !s.goesOn(ctx, scope, app) { // else the app is about to get a credential, or to be deleted
			out = append(out, Finding{Finding: KeyAlone, ProviderID: id, AppID: app, Alias: k.Session.Get("alias").Text(), key: k.Name()})
		}
	}
	if len(out) > 0 { // a key's credential may have been stored before the running sagas were read
		var now halves
		if err := s.Store.View(ctx, scope, func(r store.Reader) error { return s.read(ctx, r, id, keys, &now) }); err != nil {
			return nil, err
		}
		opens := map[dashboard.KeyName]bool{}
		for _, k := range now.keys {
			opens[k.Name()] = now.opens(k)
		}
		out = slices.DeleteFunc(out, func(f Finding) bool { return opens[f.key] })
	}
	there := newNames()
	for _, k := range h.keys {
		there.add(k.ID, k.Hash)
	}
	for _, c := range h.credentials {
		v := h.secrets[c.ID]
		if there.has(v.Key, v.Hash) {
			continue
		}
		// The key may have been made since, or have other tags by now.
		_, err := p.Dashboard.Key(ctx, dashboard.KeyName{Text: v.Key})
		if errors.Is(err, dashboard.ErrGone) {
			out = append(out, Finding{Finding: CredentialAlone, ProviderID: c.ProviderID, AppID: c.AppID, CredentialID: c.ID})
		} else if err != nil {
			return out, err
		}
	}
	strays, err := s.strays(ctx, scope, p.Dashboard, id)
	return append(out, strays...), err
}

// read reads the credentials, and removes keys of other portals.
func (s *Service) read(ctx context.Context, r store.Reader, id table.ID, keys []dashboard.Key, h *halves) error {
	*h = halves{secrets: map[table.ID]credential.Values{}, given: newNames()}
	known := map[string]bool{}
	for v, err := range products.Kind.Find(ctx, r, store.Query{}) {
		if err != nil {
			return err
		}
		if v.Value.ProviderID == id {
			known[v.Value.Ref.Name()] = true
		}
	}
	for v, err := range plans.Kind.Find(ctx, r, store.Query{}) {
		if err != nil {
			return err
		}
		if v.Value.ProviderID == id {
			known[v.Value.Ref.Name()] = true
		}
	}
	for _, k := range keys {
		policies := k.Session.Get("apply_policies").Texts()
		if appOf(k) != 0 && len(policies) > 0 && !slices.ContainsFunc(policies, func(p string) bool { return !known[p] }) {
			h.keys = append(h.keys, k)
		}
	}
	for c, err := range portal.All(ctx, r, Credentials, 0) {
		if err != nil {
			return err
		}
		if c.Method != issuers.Tokens && c.Method != issuers.Certified {
			continue
		}
		v, err := s.opened(c)
		if err != nil {
			return err
		}
		h.given.add(v.Key, v.Hash)
		if c.ProviderID == id {
			h.credentials, h.secrets[c.ID] = append(h.credentials, c), v
		}
	}
	return nil
}

// appOf returns the app that a key is for, from its tags; 0: it is not a portal's key.
func appOf(k dashboard.Key) table.ID {
	for _, tag := range k.Session.Get("tags").Texts() {
		if text, ok := strings.CutPrefix(tag, credential.AppTag); ok {
			id, _ := table.ParseID(text)
			return id
		}
	}
	return 0
}

// fix deletes a credential or key without a counterpart.
func (s *Service) fix(ctx context.Context, scope tenant.Scope, f Finding) Finding {
	var err error
	switch f.Finding {
	case CredentialAlone, ClientLacking:
		err = fault.AbsentFine(s.remove(ctx, scope, removal{App: f.AppID, Credential: f.CredentialID}))
	case ClientAstray:
		err = s.replace(ctx, scope, f.CredentialID, issuers.Spread, credential.Renewal{})
	default:
		var p synchronise.Provider
		if p, err = s.Open(ctx, scope, f.ProviderID); err != nil {
			break
		}
		if f.client == nil {
			err = p.Dashboard.DeleteKey(ctx, f.key)
		} else {
			for _, api := range f.client.apis {
				if err == nil {
					err = p.Dashboard.DeleteOAuthClient(ctx, api, f.client.id)
				}
			}
			if err == nil {
				err = p.Dashboard.Delete(ctx, f.client.policy.Ref())
			}
		}
		err = issuers.Explain(err)
	}
	return f.done(err)
}
