package policy

import (
	"bytes"
	"errors"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Draft is the document that a client sends. Every member is kept, except that the server
// overwrites its own members.
type Draft struct {
	node        *doc.Node
	followsAPIs bool // its authentication methods were written by the service
}

var errObject = errors.New("a policy is an object")

// NewDraft parses a document.
func NewDraft(text []byte) (Draft, error) {
	n, err := doc.ParseNode(text)
	if err != nil {
		return Draft{}, err
	}
	if !n.Is(doc.TypeObject) {
		return Draft{}, errObject
	}
	Table.Whole(n)
	return Draft{node: n}, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Draft) UnmarshalJSON(text []byte) (err error) {
	*d, err = NewDraft(bytes.Clone(text))
	return err
}

// JSON returns the text of the draft.
func (d Draft) JSON() []byte { return d.node.JSON() }

// MarshalJSON implements json.Marshaler.
func (d Draft) MarshalJSON() ([]byte, error) { return d.node.JSON(), nil }

// ID returns the database ID that the client requests, in lower case, or "".
func (d Draft) ID() string { return strings.ToLower(d.node.Get("_id").Text()) }

// APIs returns the identifiers of the APIs to which it gives access.
func (d Draft) APIs() []string {
	if !listed(d.node) {
		return d.node.Get("access_rights").Names()
	}
	var out []string
	for _, item := range d.node.Get("access_rights_array").Items() {
		out = append(out, item.Get("api_id").Text())
	}
	return out
}

// Complete returns the draft with its access rights in both forms, as it will be stored: it
// must not matter which form a client sends.
func (d Draft) Complete() Draft {
	n := d.node.Clone()
	if settleRights(n) != nil {
		return d // a write refuses it
	}
	list(n)
	return Draft{node: n, followsAPIs: d.followsAPIs}
}

// missing reports whether a member is absent or null.
func missing(n *doc.Node) bool { return n.Is(doc.Absent, doc.TypeNull) }
