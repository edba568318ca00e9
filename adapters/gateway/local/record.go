package local

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// KeyRecord is a key as our store keeps it: a reader of the store does not learn the key,
// its hash or its session.
type KeyRecord struct {
	ID     string    `json:"id"`
	OrgID  tenant.ID `json:"org_id"`
	Digest string    `json:"digest"` // keyed, of the hash
	Sealed string    `json:"sealed"` // the key and its session
}

// byDigest is the index that finds a key in any organisation.
const byDigest = "digest"

// KeyKind is the kind of the records of keys.
var KeyKind = &store.Kind[KeyRecord]{
	Name: "gatewaykey", Noun: "key of gateways",
	ID:  func(r KeyRecord) string { return r.ID },
	Org: func(r KeyRecord) tenant.ID { return r.OrgID },
	Indexes: []store.Index[KeyRecord]{func() store.Index[KeyRecord] {
		ix := store.Unique(byDigest, "digest", func(r KeyRecord) string { return r.Digest })
		ix.Across = true
		return ix
	}()},
}

// content is the encrypted part of a key's record.
type content struct {
	ID      string    `json:"id"`
	Hash    string    `json:"hash"`
	Session *doc.Node `json:"session"`
}

func (k *Keys) open(r KeyRecord) (c content, err error) {
	text, _, err := k.Secrets.Open(r.Sealed)
	if err == nil {
		err = json.Unmarshal([]byte(text), &c)
	}
	return c, err
}

func (k *Keys) seal(c content) (string, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	return k.Secrets.Seal(string(text))
}

// get returns the record of a key of an organisation.
func (k *Keys) get(ctx context.Context, r store.Reader, hash string) (KeyRecord, error) {
	for _, digest := range k.Secrets.Digests(hash) {
		rec, err := KeyKind.ByKey(ctx, r, byDigest, digest)
		if err == nil || fault.KindOf(err) != fault.NotFound {
			return rec.Value, err
		}
	}
	return KeyRecord{}, gateway.ErrUnknown
}

// missing returns the error for a key that the organisation does not have: the key is
// unknown, or belongs to another organisation.
func (k *Keys) missing(ctx context.Context, hash string) error {
	return k.Store.View(ctx, tenant.Everyone("to tell whether a key belongs to another organisation"), func(r store.Reader) error {
		_, err := k.get(ctx, r, hash)
		if err == nil {
			err = gateway.ErrForeign
		}
		return err
	})
}
