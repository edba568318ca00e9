package apidef

import "github.com/gatehouse-io/gatehouse/core/doc"

// addressed are the members of a definition that determine its address.
var addressed = []string{"api_id", "definition", "domain", "domain_disabled", "internal", "proxy", "tags", "tags_disabled"}

// Addresses returns trees with only those members of the definition and the document that
// determine or contain addresses; document is nil for a classic API. A change of a base reads
// all its versions, which may be large, so the other members are not parsed.
func (a API) Addresses() (definition, document *doc.Node, err error) {
	if definition, err = sketch(a.definition, addressed...); err != nil || a.document == nil {
		return definition, nil, err
	}
	document, err = sketch(a.document, "servers")
	return definition, document, err
}

// Part returns the tree of one member of the document, or nil. The other members are not
// parsed.
func (a API) Part(member string) (*doc.Node, error) {
	if a.document == nil {
		return nil, nil
	}
	n, err := sketch(a.document, member)
	return n.Get(member), err
}

// sketch returns the tree of an object with only some of its members.
func sketch(text []byte, members ...string) (*doc.Node, error) {
	o, err := doc.LoadObject(text)
	if err != nil {
		return nil, err
	}
	n := doc.NewObject()
	for _, name := range members {
		raw, ok := o.Get(name)
		if !ok {
			continue
		}
		v, err := doc.ParseNode(raw)
		if err != nil {
			return nil, err
		}
		n.Set(name, v)
	}
	return n, nil
}

// WithServers returns an API with another list of servers in its document. This change does
// not concern gateways. The rest is copied unchanged.
func (a API) WithServers(list *doc.Node) (API, error) {
	o, err := doc.LoadObject(a.document)
	if err != nil {
		return a, err
	}
	servers := list.JSON()
	a.assemble(a.Size()+len(servers), kept(a.definition), o.With("servers", servers))
	return a.Quietly(), nil
}

// kept is a text that is encoded unchanged.
type kept []byte

// AppendJSON implements doc.Appender.
func (k kept) AppendJSON(b []byte) ([]byte, error) { return append(b, k...), nil }
