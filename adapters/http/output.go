package http

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// output is the wire form of one output type.
type output struct {
	of   reflect.Type
	form form
	elem reflect.Type // item type of a page or an entity
	// tag returns the entity tag of a value; nil: values have no tags.
	tag func(v any) string
	// write appends the wire form of a value.
	write func(b *buffer, v any) error
}

// form is a kind of output.
type form uint8

const (
	bare form = iota
	receipt
	landing
	page
	listingForm
	entity
	stream
	rendition
)

// outputOf computes the wire form of an operation's output.
func outputOf(o *operation.Operation) (output, error) {
	out := compile(o.Out, o.Style)
	switch {
	case (out.form == receipt || out.form == landing && out.elem == nil) && o.Style.Word == "":
		return out, fmt.Errorf("http: %s answers with an envelope, but its style has no status word", o.ID)
	case out.form == page && o.Style.ListKey == "" && !o.Style.Bare:
		return out, fmt.Errorf("http: %s answers with a page, but its style has no list key", o.ID)
	}
	return out, nil
}

func compile(t reflect.Type, style operation.Style) output {
	switch {
	case t == nil:
	case t.Implements(reflect.TypeFor[operation.Stream]()):
		return output{of: t, form: stream}
	case t == reflect.TypeFor[operation.Rendition]():
		return output{of: t, form: rendition}
	case t == reflect.TypeFor[operation.Receipt]():
		return output{of: t, form: receipt, tag: func(v any) string { return v.(operation.Receipt).Tag },
			write: func(b *buffer, v any) error { return b.receipt(style.Word, v.(operation.Receipt)) }}
	case t == reflect.TypeFor[operation.Landing]():
		return output{of: t, form: landing, write: func(b *buffer, v any) error { return b.receipt(style.Word, v.(operation.Landing).Receipt) }}
	case generic(t, "Page"):
		return pageOutput(t, style)
	case generic(t, "Listing"):
		return listOutput(t)
	case generic(t, "Entity"):
		value, _ := t.FieldByName("Value")
		tag, _ := t.FieldByName("Tag")
		return output{of: t, form: entity, elem: value.Type,
			tag:   func(v any) string { return reflect.ValueOf(v).FieldByIndex(tag.Index).String() },
			write: func(b *buffer, v any) error { return b.value(reflect.ValueOf(v).FieldByIndex(value.Index).Interface()) }}
	case generic(t, "Visit"):
		value, _ := t.FieldByName("Value")
		return output{of: t, form: landing, elem: value.Type,
			write: func(b *buffer, v any) error { return b.value(reflect.ValueOf(v).FieldByIndex(value.Index).Interface()) }}
	}
	return output{of: t, write: (*buffer).value}
}

// generic reports whether t is an instance of a generic type of package operation.
func generic(t reflect.Type, name string) bool {
	return t.PkgPath() == reflect.TypeFor[operation.Receipt]().PkgPath() && strings.HasPrefix(t.Name(), name+"[")
}

func pageOutput(t reflect.Type, style operation.Style) output {
	items, _ := t.FieldByName("Items")
	pages, _ := t.FieldByName("Pages")
	begin := append(doc.AppendString([]byte{'{'}, style.ListKey), ":["...)
	middle := append(doc.AppendString([]byte("],"), pagesKey(style)), ':')
	if style.Bare {
		begin = []byte{'['}
	}
	write := func(b *buffer, v any) error {
		p := reflect.ValueOf(v)
		list := p.FieldByIndex(items.Index)
		b.text = append(b.text, begin...)
		return b.each(list, "", func() {
			if style.Bare {
				b.text = append(b.text, ']')
				return
			}
			b.text = append(b.text, middle...)
			b.text = strconv.AppendInt(b.text, p.FieldByIndex(pages.Index).Int(), 10)
			b.text = append(b.text, '}')
		})
	}
	return output{of: t, form: page, elem: items.Type.Elem(), write: write}
}

// each encodes the values of a list piece by piece, with gap before each, and then calls end.
func (b *buffer) each(list reflect.Value, gap string, end func()) error {
	i, long := 0, false
	b.more = func() error {
		defer b.rest()
		for ; i < list.Len(); i++ {
			if len(b.text) >= pieceSize {
				return nil
			}
			if long = long || len(b.text) >= longList; long {
				b.work()
			}
			if i > 0 {
				b.text = append(b.text, ',')
			}
			b.text = append(b.text, gap...)
			if err := b.value(list.Index(i).Addr().Interface()); err != nil { // the address: no copy
				return err
			}
		}
		b.more = nil
		end()
		return nil
	}
	return b.more()
}

func pagesKey(style operation.Style) string {
	if style.PagesKey == "" {
		return "pages"
	}
	return style.PagesKey
}

// pieceSize is how many bytes of a list are encoded before they are sent: a complete list may
// have hundreds of megabytes.
const pieceSize = 1 << 20

// longList is how many bytes of a list are encoded before the list needs a processor core of the
// Room: hundreds of long lists at once would make small requests wait for seconds.
const longList = 64 << 10

// sized is a value that knows the approximate size of its JSON. A value larger than a piece
// reserves memory before it is encoded.
type sized interface{ Size() int }

// buffer collects the text of an answer.
type buffer struct {
	text []byte
	json *json.Encoder // writes to the buffer
	// more appends the rest of the answer after the text so far has been sent; nil: there is no
	// rest.
	more func() error
	// admit reserves memory for a large value; nil: no reservation is needed.
	admit func(bytes int) error
	turn  func() (end func()) // waits for a core; nil: no core is needed
	end   func()              // releases the core that the buffer holds; nil: it holds none
	tabs  bool                // indent values by tabs
	depth string              // indentation of values in a list, after their first line
}

var buffers = sync.Pool{New: func() any {
	b := &buffer{}
	b.json = json.NewEncoder(b)
	b.json.SetEscapeHTML(false)
	return b
}}

func newBuffer() *buffer {
	b := buffers.Get().(*buffer)
	b.text, b.more, b.admit, b.turn, b.tabs, b.depth = b.text[:0], nil, nil, nil, false, ""
	return b
}

// release returns the buffer to the pool; a buffer that grew large is left to the garbage
// collector.
func (b *buffer) release() {
	if cap(b.text) <= 1<<20 {
		buffers.Put(b)
	}
}

// work acquires a core, and rest releases it.
func (b *buffer) work() {
	if b.turn != nil && b.end == nil {
		b.end = b.turn()
	}
}

func (b *buffer) rest() {
	if b.end != nil {
		b.end()
		b.end = nil
	}
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	b.text = append(b.text, p...)
	return len(p), nil
}

// value appends any value as JSON, indented if tabs is set.
func (b *buffer) value(v any) error {
	if s, ok := v.(sized); ok && b.admit != nil && s.Size() > pieceSize {
		works := b.end != nil
		b.rest() // while this goroutine waits for memory, those that will free memory can use the core
		if err := b.admit(s.Size()); err != nil {
			return err
		}
		if works {
			b.work()
		}
	}
	begin := len(b.text)
	if a, ok := v.(doc.Appender); ok {
		text, err := a.AppendJSON(b.text)
		if err != nil {
			return err
		}
		b.text = text
	} else {
		if err := b.json.Encode(v); err != nil {
			return err
		}
		b.text = b.text[:len(b.text)-1] // the encoder appends a newline
	}
	if !b.tabs {
		return nil
	}
	var moved bytes.Buffer
	if err := json.Indent(&moved, b.text[begin:], b.depth, "\t"); err != nil {
		return err
	}
	b.text = append(b.text[:begin], moved.Bytes()...)
	return nil
}

// receipt appends an envelope. Clients rely on Meta being there (docs/wire/errors.md#envelopes).
func (b *buffer) receipt(word string, r operation.Receipt) error {
	b.text = doc.AppendString(append(b.text, `{"Status":`...), word)
	b.text = doc.AppendString(append(b.text, `,"Message":`...), r.Message)
	b.text = append(b.text, `,"Meta":`...)
	if err := b.value(r.Meta); err != nil {
		return err
	}
	if r.ID != "" {
		b.text = doc.AppendString(append(b.text, `,"ID":`...), r.ID)
	}
	b.text = append(b.text, '}')
	return nil
}
