// Package local stores keys, clients and certificates in our own store instead of a
// gateway's: for embedding programs and for installations without a gateway
// (docs/wire/keys.md#without-a-gateway).
package local

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/gateway/keyhash"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Operation is the operation of the commits that this package makes.
const Operation = "gateway.local"

// Keys implements gateway.Keys.
type Keys struct {
	Store     store.Store
	Secrets   secret.Keys
	Passwords secret.Passwords
	NewID     system.NewID
	Now       system.Clock
	// Policy returns a policy as gateways see it, or a NotFound fault.
	Policy func(ctx context.Context, r store.Reader, id string) (*doc.Node, error)
	Plain  bool // keys are named by themselves, not by their hashes
	Master bool // a key without rights and policies may use all APIs
}

var _ gateway.Keys = (*Keys)(nil)

// classify turns errors of the store into errors of package gateway.
func classify(err error) error {
	switch {
	case err == nil, errors.Is(err, gateway.ErrUnknown), errors.Is(err, gateway.ErrForeign), errors.Is(err, gateway.ErrTaken), errors.Is(err, gateway.ErrRefused):
		return err
	}
	return fmt.Errorf("%w: %w", gateway.ErrUnreachable, err)
}

// view runs fn on one snapshot of an organisation.
func (k *Keys) view(ctx context.Context, org tenant.ID, fn func(store.Reader) error) error {
	scope, err := tenant.Of(org)
	if err == nil {
		err = k.Store.View(ctx, scope, fn)
	}
	return err
}

// update runs a unit of work of its own. Its commit is attributed to Operation, because the caller
// records the call itself in the change log.
func (k *Keys) update(ctx context.Context, org tenant.ID, fn func(store.Writer) error) error {
	scope, err := tenant.Of(org)
	if err != nil {
		return err
	}
	_, err = k.Store.Update(store.Request(store.Attribute(ctx, store.Attribution{Actor: Operation, Operation: Operation})), scope, fn)
	return err
}

// CreateKey implements gateway.Keys.
func (k *Keys) CreateKey(ctx context.Context, org tenant.ID, id string, session *doc.Node) (gateway.StoredKey, error) {
	s, list, err := k.prepare(ctx, org, session)
	if err == nil {
		err = k.bound(ctx, org, s)
	}
	if err != nil {
		return gateway.StoredKey{}, classify(err)
	}
	derived := id == "" && s.Get("certificate").Text() != ""
	switch {
	case derived:
		id = s.Get("certificate").Text()
	case id == "":
		id = k.Secrets.NewKey()
	}
	if s.Get("hmac_enabled").True() && s.Get("hmac_string").Text() == "" {
		s.Set("hmac_string", doc.NewString(k.Secrets.NewKey()))
	}
	now := k.Now()
	key.Begin(s, now)
	s.Set("date_created", doc.NewString(now.UTC().Format(time.RFC3339Nano)))
	text := keyhash.Make(org, id, keyhash.SHA256)
	c := content{ID: text, Hash: k.hash(text), Session: s}
	if key.IsUser(s) {
		c.ID = ""
	}
	err = k.update(ctx, org, func(w store.Writer) error {
		switch old, err := k.get(ctx, w, c.Hash); {
		case err == nil && derived:
			return gateway.ErrTaken
		case err == nil:
			return k.put(ctx, w, old, c)
		case !errors.Is(err, gateway.ErrUnknown):
			return err
		}
		c.Session = c.Session.Clone() // the function may run more than once
		endow(c.Session, list, now)
		sealed, err := k.seal(c)
		if err != nil {
			return err
		}
		return KeyKind.Insert(ctx, w, KeyRecord{ID: k.NewID(), OrgID: org, Digest: k.Secrets.Digests(c.Hash)[0], Sealed: sealed})
	})
	c.Session = key.Apply(c.Session, list)
	return c.stored(true), classify(err)
}

// endow sets the expiry of a new key as its policies limit it.
func endow(s *doc.Node, list []*doc.Node, now time.Time) {
	if lifetime := key.Lifetime(list); lifetime > 0 {
		s.Set("expires", doc.NewInt(now.Unix()+lifetime))
	}
}

// put replaces the content of a record.
func (k *Keys) put(ctx context.Context, w store.Writer, old KeyRecord, c content) error {
	sealed, err := k.seal(c)
	if err != nil {
		return err
	}
	_, err = KeyKind.Edit(ctx, w, old.ID, nil, func(r KeyRecord) (KeyRecord, error) {
		r.Digest, r.Sealed = k.Secrets.Digests(c.Hash)[0], sealed
		return r, nil
	})
	return err
}

// prepare returns a session as it is stored: validated, and with a hashed password. The
// policies are not stored with the session, since they change: prepare returns them as
// list.
func (k *Keys) prepare(ctx context.Context, org tenant.ID, session *doc.Node) (s *doc.Node, list []*doc.Node, err error) {
	if !session.Is(doc.TypeObject) {
		return nil, nil, fmt.Errorf("%w: a session is an object", gateway.ErrRefused)
	}
	if problems := key.Table.Check(session); len(problems) > 0 {
		return nil, nil, fmt.Errorf("%w: %s", gateway.ErrRefused, problems[0].String())
	}
	s = session.Clone()
	s.Set("org_id", doc.NewString(string(org)))
	err = k.view(ctx, org, func(r store.Reader) (err error) {
		list, err = k.policies(ctx, r, s)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if !k.Master && len(key.APIs(s)) == 0 && len(key.Policies(s)) == 0 {
		return nil, nil, fmt.Errorf("%w: keys must have at least one access right", gateway.ErrRefused)
	}
	if password := s.Get("basic_auth_data", "password").Text(); password != "" {
		hashed, err := k.Passwords.Hash(password)
		if err != nil {
			return nil, nil, err
		}
		s.Get("basic_auth_data").Set("password", doc.NewString(hashed))
		s.Get("basic_auth_data").Set("hash_type", doc.NewString("bcrypt")) // clients of gateways read this value there
	}
	now := k.Now()
	s.Set("last_updated", doc.NewString(strconv.FormatInt(now.Unix(), 10)))
	limits := key.Apply(s, list) // the limits that apply; the counters start anew
	s.Set("quota_remaining", doc.NewInt(limits.Get("quota_max").Int()))
	if rate := limits.Get("quota_renewal_rate").Int(); rate > 0 {
		s.Set("quota_renews", doc.NewInt(now.Unix()+rate))
	}
	return s, list, nil
}

// policies returns the policies of a session. It refuses a policy that gateways do not
// know, and policies that together have grown too large.
func (k *Keys) policies(ctx context.Context, r store.Reader, s *doc.Node) (list []*doc.Node, err error) {
	var all key.Burden
	for _, id := range key.Policies(s) {
		p, err := k.Policy(ctx, r, id)
		if fault.KindOf(err) == fault.NotFound {
			return nil, fmt.Errorf("%w: policy not found", gateway.ErrRefused)
		}
		if err != nil {
			return nil, err
		}
		all.Rights, all.Bytes = all.Rights+p.Get("access_rights").Len(), all.Bytes+p.Size()
		if err := all.Refuse(); err != nil {
			return nil, fmt.Errorf("%w: %w", gateway.ErrRefused, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// stored returns a key as callers see it. known says that the caller named the key itself;
// otherwise only the hash is shown.
func (c content) stored(known bool) gateway.StoredKey {
	out := gateway.StoredKey{Key: gateway.Key{Hash: c.Hash}, Session: shown(c.Session)}
	if known {
		out.ID = c.ID
	}
	return out
}

// shown returns a session as gateways encode it: without a password, and without members
// that are zero.
func shown(s *doc.Node) *doc.Node {
	out := doc.NewObject()
	for name, v := range s.Members() {
		switch {
		case name == "access_rights":
			rights := doc.NewObject()
			for id, right := range v.Members() { // an empty right is still a right
				rights.Set(id, right.Without(zero))
			}
			v = rights
		case key.Typed(name):
			v = v.Without(zero)
		default:
			v = v.Clone()
		}
		if !zero(v) {
			out.Set(name, v)
		}
	}
	out.Delete("basic_auth_data", "password")
	return out
}

func zero(n *doc.Node) bool {
	switch n.Type() {
	case doc.TypeArray, doc.TypeObject:
		return n.Len() == 0
	case doc.TypeBool:
		return !n.True()
	case doc.TypeString:
		return n.Text() == ""
	case doc.TypeNumber:
		return n.Float() == 0
	}
	return true
}

// Key implements gateway.Keys.
func (k *Keys) Key(ctx context.Context, org tenant.ID, name gateway.KeyName) (gateway.StoredKey, error) {
	var c content
	hash := k.find(org, name)
	err := k.view(ctx, org, func(r store.Reader) error {
		rec, err := k.get(ctx, r, hash)
		if err == nil {
			c, err = k.open(rec)
		}
		if err != nil {
			return err
		}
		list, err := k.policies(ctx, r, c.Session) // as they are now
		if err == nil {
			c.Session = key.Apply(c.Session, list)
		}
		if errors.Is(err, gateway.ErrRefused) { // a policy is gone, or the policies are too large: the session stays as it was
			err = nil
		}
		return err
	})
	if errors.Is(err, gateway.ErrUnknown) {
		err = k.missing(ctx, hash)
	}
	if err != nil {
		return gateway.StoredKey{}, classify(err)
	}
	return c.stored(name.By == gateway.ByKey), nil
}

// ReplaceKey implements gateway.Keys.
func (k *Keys) ReplaceKey(ctx context.Context, org tenant.ID, name gateway.KeyName, session *doc.Node, keepCounters bool) (gateway.StoredKey, error) {
	hash := k.find(org, name)
	if _, err := k.Key(ctx, org, name); err != nil { // this check also keeps the session from other organisations
		return gateway.StoredKey{}, err
	}
	s, list, err := k.prepare(ctx, org, session)
	if err == nil {
		err = k.bound(ctx, org, s)
	}
	if err != nil {
		return gateway.StoredKey{}, classify(err)
	}
	var c content
	err = k.update(ctx, org, func(w store.Writer) error {
		rec, err := k.get(ctx, w, hash)
		if err != nil {
			return err
		}
		if c, err = k.open(rec); err != nil {
			return err
		}
		c.Session = k.over(c.Session, s.Clone(), keepCounters)
		return k.put(ctx, w, rec, c)
	})
	if err != nil {
		return gateway.StoredKey{}, classify(err)
	}
	c.Session = key.Apply(c.Session, list)
	return c.stored(name.By == gateway.ByKey), nil
}

// over returns a session that replaces another one. It keeps the time of creation, secrets that
// are not sent, the old expiry if the new one is in the past and, with keepCounters, the counters.
func (k *Keys) over(old, s *doc.Node, keepCounters bool) *doc.Node {
	if v := old.Get("date_created"); v != nil {
		s.Set("date_created", v)
	}
	if key.Past(s, k.Now()) {
		s.Set("expires", doc.NewInt(old.Get("expires").Int()))
	}
	if v := old.Get("hmac_string"); v != nil && s.Get("hmac_string") == nil && s.Get("hmac_enabled").True() {
		s.Set("hmac_string", v)
	}
	if password := old.Get("basic_auth_data", "password").Text(); password != "" && s.Get("basic_auth_data", "password").Text() == "" {
		s.Set("basic_auth_data", old.Get("basic_auth_data"))
	}
	if keepCounters {
		for _, name := range []string{"quota_remaining", "quota_renews"} {
			if v := old.Get(name); v != nil {
				s.Set(name, v)
			}
		}
	}
	return s
}

// DeleteKey implements gateway.Keys.
func (k *Keys) DeleteKey(ctx context.Context, org tenant.ID, name gateway.KeyName) error {
	hash := k.find(org, name)
	err := k.update(ctx, org, func(w store.Writer) error {
		rec, err := k.get(ctx, w, hash)
		if err == nil {
			_, err = KeyKind.Delete(ctx, w, rec.ID, nil)
		}
		return err
	})
	if errors.Is(err, gateway.ErrUnknown) {
		err = k.missing(ctx, hash)
	}
	return classify(err)
}

// PreviewKey implements gateway.Keys.
func (k *Keys) PreviewKey(ctx context.Context, org tenant.ID, session *doc.Node) (*doc.Node, error) {
	s, list, err := k.prepare(ctx, org, session)
	if err != nil {
		return nil, classify(err)
	}
	now := k.Now()
	key.Begin(s, now)
	endow(s, list, now)
	return shown(key.Apply(s, list)), nil
}
