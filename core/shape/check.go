package shape

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Problem is one place where a document has the wrong type.
type Problem struct {
	Path string `json:"path"` // "proxy.target_list[2]"; "" is the document itself
	Want string `json:"want"`
	Got  string `json:"got"` // the kind of value, never the value: it may be a secret

	spelled string // the right spelling of the last name of the path; "": the value is wrong, not a name
}

// Demand returns a text for people about how to correct the value. It follows the path.
func (p Problem) Demand() string {
	if p.spelled != "" {
		return "must be spelled " + p.spelled
	}
	return "must be " + p.Want + ", not " + p.Got
}

// String describes the problem for people.
func (p Problem) String() string {
	if p.spelled != "" {
		return p.Path + " must be spelled " + p.spelled
	}
	if p.Path == "" {
		return "want " + p.Want + ", got " + p.Got
	}
	return p.Path + ": want " + p.Want + ", got " + p.Got
}

// MaxProblems is the maximum number of problems that are reported of one document: a longer
// list of wrong items would not help.
const MaxProblems = 50

// Check returns the places at which a decoder would refuse the document, or nil.
func (t Type) Check(n *doc.Node) []Problem {
	var c checker
	c.check(&t, n)
	return c.found
}

// Misspelling is the error for a document with a known name in another letter case.
type Misspelling struct{ Problem }

// Error implements error.
func (m *Misspelling) Error() string { return m.String() }

// Spelling returns a Misspelling if a document has a known name in another letter case. It
// returns nil if it has none, or if the text is not a valid document.
func (t Type) Spelling(text []byte) error {
	n, err := doc.ParseNode(text)
	if err != nil {
		return nil // the decoder reports it
	}
	for _, p := range t.Check(n) {
		if p.spelled != "" {
			return &Misspelling{p}
		}
	}
	return nil
}

// checker keeps the path as steps. They become text only when there is a problem to report.
type checker struct {
	steps []step
	found []Problem
}

type step struct {
	name string
	item int // -1: the step is the member called name
}

func (c *checker) path() string {
	var b []byte
	for _, s := range c.steps {
		switch {
		case s.item >= 0:
			b = append(strconv.AppendInt(append(b, '['), int64(s.item), 10), ']')
			continue
		case len(b) > 0:
			b = append(b, '.')
		}
		if s.name == "" {
			b = append(b, `""`...)
		}
		b = append(b, doc.Short(s.name)...)
	}
	return string(b)
}

func (c *checker) report(t *Type, got string) {
	if len(c.found) < MaxProblems {
		c.found = append(c.found, Problem{Path: c.path(), Want: t.String(), Got: got})
	}
}

func (c *checker) check(t *Type, n *doc.Node) {
	if n.Is(doc.TypeNull) && t.kind != kindDuration && t.kind != kindRef && t.kind != kindEither {
		return // a decoder leaves the zero value
	}
	switch t.kind {
	case kindRef:
		c.check(t.elem, n)
	case kindEither:
		for i := range t.either { // the first type for the JSON kind of the value decides
			if t.either[i].like(n) {
				c.check(&t.either[i], n)
				return
			}
		}
		c.report(t, got(n))
	case kindList:
		c.list(t, n)
	case kindMap, kindObject:
		c.object(t, n)
	case kindAny: // its numbers must not be too large to decode
		switch n.Type() {
		case doc.Absent:
			c.report(t, got(n))
		case doc.TypeNumber:
			if _, err := strconv.ParseFloat(string(n.JSON()), 64); err != nil {
				c.report(t, got(n))
			}
		case doc.TypeArray:
			c.list(&Type{kind: kindList, elem: t}, n)
		case doc.TypeObject:
			c.object(&Type{kind: kindMap, elem: t}, n)
		}
	default:
		if got := t.refuses(n); got != "" {
			c.report(t, got)
		}
	}
}

// like reports whether a value has the JSON kind that the type needs.
func (t *Type) like(n *doc.Node) bool {
	switch t.kind {
	case kindRef:
		return t.elem.like(n)
	case kindList:
		return n.Is(doc.TypeArray, doc.TypeNull)
	case kindMap, kindObject:
		return n.Is(doc.TypeObject, doc.TypeNull)
	}
	return n.Is(doc.TypeNull) && t.kind != kindDuration || t.refuses(n) == ""
}

func (c *checker) list(t *Type, n *doc.Node) {
	if !n.Is(doc.TypeArray) {
		c.report(t, got(n))
		return
	}
	for i, v := range n.Items() {
		c.steps = append(c.steps, step{item: i})
		c.check(t.elem, v)
		c.steps = c.steps[:len(c.steps)-1]
	}
}

func (c *checker) object(t *Type, n *doc.Node) {
	if !n.Is(doc.TypeObject) {
		c.report(t, got(n))
		return
	}
	if t.linked && n.Get("$ref").Text() != "" {
		return
	}
	for name, v := range n.Members() {
		of, known := t.of(name)
		if of == nil {
			continue
		}
		c.steps = append(c.steps, step{name, -1})
		if known != nil && known.name != name && len(c.found) < MaxProblems { // a decoder takes the name for the known one
			c.found = append(c.found, Problem{Path: c.path(), Want: "the spelling " + known.name, Got: "another letter case", spelled: known.name})
		}
		c.check(of, v)
		c.steps = c.steps[:len(c.steps)-1]
	}
}

// of returns the type of a member, nil if it has none. known is the member that a decoder
// would fill from the name: the one with the same spelling, or else the one that differs only
// in letter case.
func (t *Type) of(name string) (of *Type, known *member) {
	i, ok := t.exact[name]
	if !ok {
		i, ok = t.folded[fold(name)]
	}
	switch {
	case ok:
		return &t.members[i].of, &t.members[i]
	case t.free != "" && strings.HasPrefix(name, t.free):
		return nil, nil
	}
	return t.elem, nil
}

// refuses says what is wrong with a single value, or "".
func (t *Type) refuses(n *doc.Node) string {
	text := n.Is(doc.TypeString)
	ok := text // of strings and durations: a duration that cannot be parsed counts as 0
	switch t.kind {
	case kindRaw:
		ok = !n.Is(doc.Absent)
	case kindBool:
		ok = n.Is(doc.TypeBool)
	case kindInt, kindUint, kindFloat:
		return t.refusesNumber(n)
	case kindTime:
		ok = text && new(time.Time).UnmarshalJSON(n.JSON()) == nil
	case kindObjectID:
		if text { // an identifier with escapes cannot be decoded as one
			spelled := string(n.JSON())
			id, err := hex.DecodeString(spelled[1 : len(spelled)-1])
			ok = err == nil && (len(id) == 12 || len(id) == 0)
		}
	}
	switch {
	case ok:
		return ""
	case text && t.kind != kindBool:
		return "another string"
	}
	return got(n)
}

// refusesNumber does the same as encoding/json: whole numbers are parsed from their spelling,
// so that 1.0 and 1e3 are refused.
func (t *Type) refusesNumber(n *doc.Node) string {
	if !n.Is(doc.TypeNumber) {
		return got(n)
	}
	var err error
	switch text := string(n.JSON()); t.kind {
	case kindInt:
		_, err = strconv.ParseInt(text, 10, t.bits)
	case kindUint:
		_, err = strconv.ParseUint(text, 10, t.bits)
	default:
		f, err := strconv.ParseFloat(text, t.bits)
		switch {
		case err != nil:
			return "one that is too large"
		case f == 0 && !n.Equal(doc.NewInt(0)): // it would become 0 and mean something else, such as no limit
			return "one that is too small"
		}
	}
	if err != nil {
		return "another number"
	}
	return ""
}

func got(n *doc.Node) string {
	switch n.Type() {
	case doc.Absent:
		return "nothing"
	case doc.TypeNull:
		return "null"
	case doc.TypeArray:
		return "a list"
	case doc.TypeObject:
		return "an object"
	case doc.TypeBool:
		return "true or false"
	}
	return "a " + n.Type().String()
}
