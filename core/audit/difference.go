package audit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/redact"
)

// Difference is one place in which a document changed. Secrets are replaced with
// redact.Hidden.
type Difference struct {
	Subject string          `json:"subject"` // kind and ID of the changed record
	Path    string          `json:"path"`    // JSON pointer (RFC 6901)
	From    json.RawMessage `json:"from,omitempty"`
	To      json.RawMessage `json:"to,omitempty"`
}

// Limits of the differences of one record.
const (
	MaxDifferences = 50
	maxValue       = 512 // bytes of a value; a longer value is left out
	maxPath        = 256
)

// Comparer finds differences. It caches which names hold secrets, because documents of one
// kind have the same few names. It is not safe for concurrent use.
type Comparer struct {
	secrets []string
	known   map[string]bool // names, and whether they hold secrets
}

// NewComparer returns a comparer. It hides the members with these names, in addition to those
// that package redact knows.
func NewComparer(secrets []string) *Comparer {
	c := &Comparer{known: map[string]bool{}}
	for _, name := range secrets {
		c.secrets = append(c.secrets, redact.Fold(name))
	}
	return c
}

// Differences returns up to most differences between two documents, and how many more there
// are.
func (c *Comparer) Differences(subject string, before, after []byte, most int) (out []Difference, more int) {
	found := comparison{Comparer: c, subject: Bounded(subject, maxText), most: most}
	found.texts(before, after, "", false)
	return found.out, found.more
}

type comparison struct {
	*Comparer
	subject string
	most    int
	out     []Difference
	more    int
}

// maxNames limits the cache: clients choose some names.
const maxNames = 1000

// levels is the name of a permission map. Its members are permissions and are shown even if
// they have the name of a secret, such as ResetPassword.
const levels = "user_permissions"

// hidesAt reports whether the member name of the object at a path is hidden.
func (c *Comparer) hidesAt(path, name string) bool {
	if strings.HasSuffix(path, "/"+levels) {
		return false
	}
	hidden, ok := c.known[name]
	if !ok {
		folded := redact.Fold(name)
		hidden = redact.Name(folded) || redact.Headers(folded) || slices.Contains(c.secrets, folded)
		if len(c.known) < maxNames && len(name) < maxPath {
			c.known[name] = hidden
		}
	}
	return hidden
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// texts compares two texts member by member. Most texts are equal and are not parsed. For a
// text that cannot be parsed, it only records that there is a difference.
func (c *comparison) texts(before, after []byte, path string, hidden bool) {
	if bytes.Equal(before, after) {
		return
	}
	if pairs, ok := doc.InStep(before, after); ok {
		for _, p := range pairs {
			c.texts(p.Before, p.After, path+"/"+pointer.Replace(p.Name), hidden || c.hidesAt(path, p.Name))
		}
		return
	}
	if plain(before) && plain(after) {
		c.add(path, c.shown(before, hidden), c.shown(after, hidden))
		return
	}
	if !doc.IsObject(before) || !doc.IsObject(after) {
		a, errA := parsed(before)
		b, errB := parsed(after)
		if errA != nil || errB != nil {
			c.more++
			return
		}
		c.compare(a, b, path, hidden)
		return
	}
	a, errA := doc.LoadObject(before)
	b, errB := doc.LoadObject(after)
	if errA != nil || errB != nil {
		c.more++
		return
	}
	for name, was := range a.All() {
		is, _ := b.Get(name)
		if !bytes.Equal(was, is) {
			c.texts(was, is, path+"/"+pointer.Replace(name), hidden || c.hidesAt(path, name))
		}
	}
	for name, is := range b.All() {
		if _, ok := a.Get(name); !ok {
			c.texts(nil, is, path+"/"+pointer.Replace(name), hidden || c.hidesAt(path, name))
		}
	}
}

// parsed returns a text as a tree; nil for a nil text.
func parsed(text []byte) (*doc.Node, error) {
	if text == nil {
		return nil, nil
	}
	return doc.ParseNode(text)
}

func (c *comparison) compare(a, b *doc.Node, path string, hidden bool) {
	a, b = unfold(a), unfold(b)
	switch {
	case a.Is(doc.TypeObject) && b.Is(doc.TypeObject):
		for name, was := range a.Members() {
			c.compare(was, b.Get(name), path+"/"+pointer.Replace(name), hidden || c.hidesAt(path, name))
		}
		for name, is := range b.Members() {
			if a.Get(name) == nil {
				c.compare(nil, is, path+"/"+pointer.Replace(name), hidden || c.hidesAt(path, name))
			}
		}
	case a.Is(doc.TypeArray) && b.Is(doc.TypeArray) && a.Len() == b.Len():
		is := b.Items()
		for i, was := range a.Items() {
			c.compare(was, is[i], path+"/"+strconv.Itoa(i), hidden)
		}
	case a.Equal(b):
	case len(c.out) == c.most:
		c.more++
	default:
		c.add(path, c.show(a, path, hidden), c.show(b, path, hidden))
	}
}

// add adds a difference if there is room.
func (c *comparison) add(path string, from, to json.RawMessage) {
	if len(c.out) == c.most {
		c.more++
		return
	}
	c.out = append(c.out, Difference{c.subject, Bounded(path, maxPath), from, to})
}

// plain reports whether text is a short JSON string without escapes, documents or credentials.
// Two such texts are equal if their bytes are, and they are shown unchanged. Most values are
// plain, and need not be parsed.
func plain(text []byte) bool {
	if len(text) < 2 || len(text) > maxValue || text[0] != '"' || text[1] == '{' || text[len(text)-1] != '"' {
		return false
	}
	for _, b := range text[1 : len(text)-1] {
		if b < ' ' || b > '~' || b == '"' || b == '\\' || b == '@' || b == '=' {
			return false
		}
	}
	return true
}

// shown is show for a plain text.
func (*comparison) shown(text json.RawMessage, hidden bool) json.RawMessage {
	if hidden {
		return concealed
	}
	return text
}

var concealed = json.RawMessage(doc.NewString(redact.Hidden).JSON())

// unfold returns the document inside a text: some documents are stored as texts, and their
// secrets can be found by name only after parsing.
func unfold(n *doc.Node) *doc.Node {
	if n.Is(doc.TypeString) && strings.HasPrefix(n.Text(), "{") {
		if inner, err := doc.ParseNode([]byte(n.Text())); err == nil {
			return inner
		}
	}
	return n
}

// show returns a value as a record shows it; nil: there is none, or it is too long.
func (c *comparison) show(n *doc.Node, path string, hidden bool) json.RawMessage {
	if n == nil {
		return nil
	}
	if n.Size() > 8*maxValue {
		return nil
	}
	text := c.masked(n, path, hidden).JSON()
	if len(text) > maxValue {
		return nil
	}
	return text
}

// masked returns a copy of the value at a path without secrets.
func (c *comparison) masked(n *doc.Node, path string, hidden bool) *doc.Node {
	switch n = unfold(n); n.Type() {
	case doc.TypeObject:
		out := doc.NewObject()
		for name, v := range n.Members() {
			out.Set(name, c.masked(v, path+"/"+pointer.Replace(name), hidden || c.hidesAt(path, name)))
		}
		return out
	case doc.TypeArray:
		out := doc.NewArray()
		for i, v := range n.Items() {
			out.Append(c.masked(v, path+"/"+strconv.Itoa(i), hidden))
		}
		return out
	case doc.TypeString:
		if hidden {
			return doc.NewString(redact.Hidden)
		}
		return doc.NewString(redact.Text(n.Text()))
	case doc.TypeNumber:
		if hidden {
			return doc.NewString(redact.Hidden)
		}
	}
	return n
}
