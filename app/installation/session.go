package installation

import (
	"bytes"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/key"
)

// Session is a session with limits in the form that gateways decode
// (docs/wire/keys.md#session).
type Session struct{ node *doc.Node }

// UnmarshalJSON implements json.Unmarshaler.
func (s *Session) UnmarshalJSON(text []byte) (err error) {
	s.node, err = doc.ParseNode(bytes.Clone(text))
	return err
}

// MarshalJSON implements json.Marshaler.
func (s Session) MarshalJSON() ([]byte, error) { return s.node.MarshalJSON() }

// Schema describes a session in the API description.
func (Session) Schema() map[string]any {
	return map[string]any{"type": "object", "description": "A session as gateways decode it: rate, per, quota_max, quota_renewal_rate …"}
}

// typed refuses values that gateways could not decode. It replaces whole numbers in
// another spelling, such as 1.0, by the usual spelling, in place.
func (s Session) typed() error {
	key.Table.AllWhole(s.node)
	if problems := key.Table.Check(s.node); len(problems) > 0 {
		return fault.New(fault.Invalid, codeType, "session %s %s", problems[0].Path, problems[0].Demand()).At(problems[0].Path)
	}
	return nil
}
