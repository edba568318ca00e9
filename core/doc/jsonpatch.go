package doc

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Errors of ApplyPatch, always inside a *PatchError.
var (
	ErrPatch = errors.New("doc: patch cannot be applied")
	ErrTest  = errors.New("doc: a test of the patch failed") // RFC 6902, 4.6
)

// PatchError says which operation of a JSON patch failed and why. It is an
// ErrPatch, or an ErrTest when the operation was a test that failed.
type PatchError struct {
	Index  int    // of the operation, from 0
	Op     string // as in the patch
	Path   string // JSON pointer as in the patch
	Reason string
	test   bool
}

// Error implements error.
func (e *PatchError) Error() string {
	return fmt.Sprintf("operation %d (%s %q): %s", e.Index, e.Op, e.Path, e.Reason)
}

// Unwrap returns ErrPatch or ErrTest.
func (e *PatchError) Unwrap() error {
	if e.test {
		return ErrTest
	}
	return ErrPatch
}

// Limits of the cost of one patch.
const (
	maxOperations = 10_000
	// maxWork is the maximum of about how many bytes the operations copy and shift: a document
	// that is copied into itself doubles with every operation.
	maxWork = 64 << 20
	// Closing the holes in an object takes as long for each member as copying a few bytes.
	memberShift = 4
	itemsShift  = 8 // shifting so many items of an array costs as much as one byte
)

var errWork = errors.New("the patch copies or shifts too much")

// spend counts work, and returns an error above the limit.
func (p *patching) spend(work int) error {
	if p.work += work; p.work >= maxWork {
		return errWork
	}
	return nil
}

// ApplyPatch applies a JSON patch (RFC 6902) and returns the result; the document itself is
// not changed. Either every operation succeeds or there is an error: ErrSyntax or ErrNoPatch
// for a patch that is not an array of operations, otherwise a *PatchError. Values that the
// patch does not touch keep their place and spelling; a replaced member keeps its place.
func ApplyPatch(document *Node, patch []byte) (*Node, error) {
	ops, err := ParseNode(patch)
	if err != nil {
		return nil, err
	}
	if !ops.Is(TypeArray) {
		return nil, ErrNoPatch
	}
	if ops.Len() > maxOperations {
		return nil, fmt.Errorf("%w, and of not more than %d", ErrNoPatch, maxOperations)
	}
	p := &patching{root: document.Clone(), holed: map[*Node]bool{}}
	for i, op := range ops.nodes {
		p.op = op
		if err := p.step(); err != nil {
			return nil, &PatchError{Index: i, Op: op.Get("op").Text(), Path: op.Get("path").Text(), Reason: err.Error(), test: errors.Is(err, errTest)}
		}
	}
	for holder := range p.holed {
		holder.compact()
	}
	return p.root, nil
}

// patching is the state while a patch is applied.
type patching struct {
	root *Node
	op   *Node
	work int
	// Members that are removed from an object with an index leave holes: nil nodes without a
	// name. Otherwise each removal would shift all members after it.
	holed map[*Node]bool
}

var errTest = errors.New("the value is another one")

func (p *patching) step() error {
	path, err := p.pointer("path")
	if err != nil {
		return err
	}
	op := p.op.Get("op").Text()
	var v *Node
	if op == "add" || op == "replace" || op == "test" {
		if v = p.op.Get("value").Clone(); v == nil { // a copy: the patch may be applied again
			return errors.New(`"value" is missing`)
		}
	}
	switch op {
	case "add":
		return p.add(path, v)
	case "replace":
		n, err := p.at(path)
		if err == nil {
			*n = *v
		}
		return err
	case "test":
		n, err := p.at(path)
		if err == nil {
			err = p.whole(n)
		}
		if err == nil && !n.Equal(v) {
			err = errTest
		}
		return err
	case "remove":
		_, err := p.remove(path)
		return err
	case "move":
		return p.move(path)
	case "copy":
		return p.copy(path)
	default:
		return errors.New(`"op" must be one of add, remove, replace, move, copy and test`)
	}
}

// pointer returns the unescaped segments of a JSON pointer (RFC 6901).
func (p *patching) pointer(member string) ([]string, error) {
	n := p.op.Get(member)
	if !n.Is(TypeString) {
		return nil, fmt.Errorf("%q must be a string", member)
	}
	text := n.Text()
	if text == "" {
		return nil, nil
	}
	if text[0] != '/' {
		return nil, fmt.Errorf("%q must be empty or begin with /", member)
	}
	segs := strings.Split(text[1:], "/")
	for i, s := range segs {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(s), "~") {
			return nil, fmt.Errorf("%q has a ~ that is neither ~0 nor ~1", member)
		}
		segs[i] = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
	}
	return segs, nil
}

var errAbsent = errors.New("there is nothing at this path")

// at returns the value at a path.
func (p *patching) at(path []string) (*Node, error) {
	n := p.root
	for _, seg := range path {
		var i int
		var err error
		switch n.Type() {
		case TypeObject:
			i = n.find(seg)
		case TypeArray:
			if i, err = position(seg, len(n.nodes)-1); err != nil {
				return nil, err
			}
		default:
			i = -1
		}
		if i < 0 {
			return nil, errAbsent
		}
		n = n.nodes[i]
	}
	if n == nil {
		return nil, errAbsent
	}
	return n, nil
}

// position parses an array index: digits without leading zeros (RFC 6901, 4).
func position(seg string, last int) (int, error) {
	i, err := strconv.Atoi(seg)
	if err != nil || strconv.Itoa(i) != seg || i < 0 {
		return 0, fmt.Errorf("%q is no index of an array", seg)
	}
	if i > last {
		return 0, fmt.Errorf("index %d is out of range", i)
	}
	return i, nil
}

// parent returns the container of the last segment of a path, and that segment.
func (p *patching) parent(path []string) (*Node, string, error) {
	last := len(path) - 1
	n, err := p.at(path[:last])
	if err == nil && !n.Is(TypeObject, TypeArray) {
		err = fmt.Errorf("what holds it is %s", n.Type())
	}
	return n, path[last], err
}

func (p *patching) add(path []string, v *Node) error {
	if len(path) == 0 {
		p.root = v
		return nil
	}
	holder, name, err := p.parent(path)
	if err != nil {
		return err
	}
	if holder.Is(TypeObject) {
		holder.Set(name, v)
		return nil
	}
	i := len(holder.nodes)
	if name != "-" {
		if i, err = position(name, i); err != nil {
			return err
		}
	}
	if err := p.spend((len(holder.nodes) - i) / itemsShift); err != nil {
		return err
	}
	holder.nodes = slices.Insert(holder.nodes, i, v)
	return nil
}

// remove removes a value and returns it.
func (p *patching) remove(path []string) (*Node, error) {
	if len(path) == 0 {
		return nil, errors.New("the whole document cannot be removed")
	}
	v, err := p.at(path)
	if err != nil {
		return nil, err
	}
	holder, name, err := p.parent(path)
	if err != nil {
		return nil, err
	}
	if holder.Is(TypeObject) {
		if holder.index == nil {
			holder.Delete(name)
			return v, nil
		}
		holder.nodes[holder.index[name]] = nil
		delete(holder.index, name)
		p.holed[holder] = true
		return v, nil
	}
	i, err := position(name, len(holder.nodes)-1)
	if err == nil {
		err = p.spend((len(holder.nodes) - i) / itemsShift)
	}
	if err == nil {
		holder.nodes = slices.Delete(holder.nodes, i, i+1)
	}
	return v, err
}

// whole closes all holes in a value before the value is read.
func (p *patching) whole(v *Node) error {
	if !v.Is(TypeObject, TypeArray) {
		return nil
	}
	for holder := range p.holed {
		if err := p.spend(len(holder.nodes) * memberShift); err != nil {
			return err
		}
		holder.compact()
	}
	clear(p.holed)
	return nil
}

// compact closes the holes that remove left.
func (n *Node) compact() {
	kept := 0
	for i, v := range n.nodes {
		if v != nil {
			n.names[kept], n.nodes[kept] = n.names[i], v
			kept++
		}
	}
	clear(n.names[kept:])
	clear(n.nodes[kept:])
	n.names, n.nodes = n.names[:kept], n.nodes[:kept]
	n.reindex()
}

// move moves a value from one place to another, but not into itself (RFC 6902, 4.4).
func (p *patching) move(path []string) error {
	from, err := p.pointer("from")
	if err != nil {
		return err
	}
	if _, err := p.at(from); err != nil {
		return fmt.Errorf("from: %w", err)
	}
	if slices.Equal(from, path) {
		return nil
	}
	if len(path) > len(from) && slices.Equal(from, path[:len(from)]) {
		return errors.New("a value cannot be moved into itself")
	}
	if len(from) == 0 {
		return errors.New("the whole document cannot be moved")
	}
	v, err := p.remove(from)
	if err != nil {
		return err
	}
	return p.add(path, v)
}

func (p *patching) copy(path []string) error {
	from, err := p.pointer("from")
	if err != nil {
		return err
	}
	v, err := p.at(from)
	if err != nil {
		return fmt.Errorf("from: %w", err)
	}
	if err := p.whole(v); err != nil {
		return err
	}
	if err := p.spend(v.Weight(maxWork - p.work)); err != nil {
		return err
	}
	return p.add(path, v.Clone())
}

// Weight returns the approximate size of a copy of n in bytes; it stops counting at most.
func (n *Node) Weight(most int) int {
	if n == nil {
		return 0
	}
	size := 64 + len(n.text)
	for i, v := range n.nodes {
		if size >= most {
			break
		}
		if n.kind == TypeObject {
			size += len(n.names[i])
		}
		size += v.Weight(most - size)
	}
	return size
}
