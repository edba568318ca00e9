package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

func noun(noun, name string) string {
	if noun == "" {
		return name
	}
	return noun
}

// Decode returns the value of one of the kind's records, the shared value if there is one.
// Treat it as read-only.
func (k *Kind[T]) Decode(r Record) (T, error) {
	if r.memo == nil {
		return k.load(r)
	}
	if v, ok := r.memo.value.Load().(T); ok {
		return v, nil
	}
	v, err := k.load(r)
	if err == nil {
		r.memo.value.CompareAndSwap(nil, v)
	}
	return v, err
}

// load decodes a record: the caller owns the value.
func (k *Kind[T]) load(r Record) (v T, err error) {
	if r.Damage != nil {
		return v, k.damaged(r, r.Damage)
	}
	if v, err = k.parse(r.Doc); err != nil {
		var none T
		return none, k.damaged(r, err)
	}
	return v, nil
}

// parse decodes a stored document.
func (k *Kind[T]) parse(text []byte) (v T, err error) {
	if k.Load != nil {
		return k.Load(text)
	}
	err = json.Unmarshal(text, &v)
	return v, err
}

func (k *Kind[T]) encode(v T, rev Revision, size int) (Record, error) {
	text, err := k.text(v, size)
	if err != nil {
		return Record{}, fmt.Errorf("store: %s: %w", k.Name, err)
	}
	rec := Record{Org: k.Org(v), Kind: k.Name, ID: k.ID(v), Rev: rev, Doc: text, memo: &memo{}}
	rec.Keys, rec.Refs = k.derived(v)
	return rec, nil
}

// text encodes a value for storage. It allocates the expected size at once, because a growing
// buffer is copied several times. Values with Over keep their text.
func (k *Kind[T]) text(v T, size int) ([]byte, error) {
	a, ok := any(v).(doc.Appender)
	switch {
	case !ok:
		return json.Marshal(v)
	case k.Over != nil:
		return a.AppendJSON(nil)
	}
	return a.AppendJSON(make([]byte, 0, size))
}

// Absent returns the fault for a resource that does not exist or that the caller may not see.
func (k *Kind[T]) Absent() error { return k.explain(ErrNotFound, "") }

// explain turns an error of a back end into a fault that names the resource.
func (k *Kind[T]) explain(err error, name string) error {
	noun := noun(k.Noun, k.Name)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNotFound):
		return fault.New(fault.NotFound, k.Name+".not_found", "%s not found", noun).Because(err)
	case errors.Is(err, ErrTaken):
		index, value, label := "", name, "ID"
		if t, ok := errors.AsType[*TakenError](err); ok && t.Index != "" {
			index, value = t.Index, t.Value
			for _, ix := range k.Indexes {
				if ix.Name == index && ix.Noun != "" {
					label = ix.Noun
				}
			}
		}
		return fault.New(fault.Conflict, k.Name+".taken", "%s %s already exists: '%s'", noun, label, value).At(index).Because(err)
	case errors.Is(err, ErrStale):
		return fault.New(fault.Stale, k.Name+".stale", "%s changed meanwhile; read it again", noun).Because(err)
	}
	return err
}

// Index computes the searchable values of a resource.
type Index[T any] struct {
	Name   string // another one when Values changes: a start looks for stored records that lack an index by its name
	Noun   string // in messages about a taken value: "ID"
	Unique bool
	Across bool // with Unique: across organisations
	Sorted bool // lists can be sorted by its values; a resource has at most one such index
	Values func(T) []string
}

// Unique makes an index with one value that no two resources share. A resource with an empty
// value is not in it.
func Unique[T any](name, noun string, value func(T) string) Index[T] {
	ix := Lookup(name, value)
	ix.Noun, ix.Unique = noun, true
	return ix
}

// Lookup makes an index with one value that resources may share.
func Lookup[T any](name string, value func(T) string) Index[T] {
	return Index[T]{Name: name, Values: func(v T) []string {
		if s := value(v); s != "" {
			return []string{s}
		}
		return nil
	}}
}

// Sorted makes a Lookup with values by which lists can be sorted.
func Sorted[T any](name string, value func(T) string) Index[T] {
	ix := Lookup(name, value)
	ix.Sorted = true
	return ix
}

// maxIndexed is the size in bytes up to which every back end can index a text.
const maxIndexed = 512

// Indexed returns the form of s for an index and for lookups in it: a digest where a back end
// could not store s itself.
func Indexed(s string) string {
	if len(s) <= maxIndexed && utf8.ValidString(s) && !strings.ContainsRune(s, 0) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Sample is a kind and values of it that the kind accepts: back ends are checked with
// it.
type Sample struct {
	Kind *Kind[any]
	// Make returns the value with an ID in an organisation; all else is the same.
	Make func(id string, org tenant.ID) (any, error)
}
