package apidef

import "github.com/gatehouse-io/gatehouse/core/doc"

// As returns a as an API of another class. The caller writes the definition and document next.
func (a API) As(c Class) API {
	a.class, a.stored = c, nil
	return a
}

// Same reports whether two APIs are equal except for order and spelling.
func (a API) Same(b API) bool {
	x, errX := a.tree()
	y, errY := b.tree()
	return errX == nil && errY == nil && x.Equal(y)
}

func (a API) tree() (*doc.Node, error) {
	text, err := a.AppendJSON(nil)
	if err != nil {
		return nil, err
	}
	return doc.ParseNode(text)
}
