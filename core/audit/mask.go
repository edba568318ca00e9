package audit

import (
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/redact"
)

// Mask returns a document without secrets, and the JSON pointers (RFC 6901) of the hidden
// places. It hides the members with the names in secrets, in addition to those that package
// redact knows. The rest keeps its order and its type.
func Mask(text []byte, secrets []string) (masked []byte, hidden []string, err error) {
	n, err := doc.ParseNode(text)
	if err != nil {
		return nil, nil, err
	}
	m := mask{Comparer: NewComparer(secrets)}
	n = m.walk(n, "", false)
	return n.JSON(), m.hidden, nil
}

type mask struct {
	*Comparer
	hidden []string
}

func (m *mask) walk(n *doc.Node, path string, hide bool) *doc.Node {
	switch n.Type() {
	case doc.TypeObject:
		out := doc.NewObject()
		for name, v := range n.Members() {
			out.Set(name, m.walk(v, path+"/"+pointer.Replace(name), hide || m.hidesAt(path, name)))
		}
		return out
	case doc.TypeArray:
		out := doc.NewArray()
		for i, v := range n.Items() {
			out.Append(m.walk(v, path+"/"+strconv.Itoa(i), hide))
		}
		return out
	case doc.TypeString:
		if text := m.shown(n.Text(), hide); text != n.Text() {
			m.hidden = append(m.hidden, path)
			return doc.NewString(text)
		}
	case doc.TypeNumber:
		if hide {
			m.hidden = append(m.hidden, path)
			return doc.NewString(redact.Hidden)
		}
	}
	return n
}

// shown returns a text without secrets. A text that is a document with secrets is hidden
// completely, because the rest of it would be of no use.
func (m *mask) shown(text string, hide bool) string {
	if hide && text != "" {
		return redact.Hidden
	}
	if strings.HasPrefix(text, "{") {
		if inner, err := doc.ParseNode([]byte(text)); err == nil {
			in := mask{Comparer: m.Comparer}
			if in.walk(inner, "", false); len(in.hidden) > 0 {
				return redact.Hidden
			}
		}
	}
	return redact.Text(text)
}
