package audit

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// writer appends the members of a record. Each name argument includes the punctuation before
// and after it.
type writer struct {
	b  []byte
	ok bool // all values were JSON
}

func (w *writer) text(name, text string) { w.b = doc.AppendString(append(w.b, name...), text) }

func (w *writer) number(name string, n int64) { w.b = strconv.AppendInt(append(w.b, name...), n, 10) }

// someText appends a text, unless it is empty.
func (w *writer) someText(name, text string) {
	if text != "" {
		w.text(name, text)
	}
}

// some appends a number, unless it is zero.
func (w *writer) some(name string, n int) {
	if n != 0 {
		w.number(name, int64(n))
	}
}

// value appends a JSON text without its white space, unless it is empty.
func (w *writer) value(name string, text json.RawMessage) {
	if len(text) == 0 {
		return
	}
	if plain(text) {
		w.b = append(append(w.b, name...), text...)
		return
	}
	b := bytes.NewBuffer(append(w.b, name...))
	w.ok = json.Compact(b, text) == nil && w.ok
	w.b = b.Bytes()
}

// item appends the punctuation before an item of a list. An empty list is left out.
func (w *writer) item(name string, i int) {
	if i == 0 {
		w.b = append(w.b, name...)
	} else {
		w.b = append(w.b, ',')
	}
}

// end closes a list with this number of items.
func (w *writer) end(items int) {
	if items > 0 {
		w.b = append(w.b, ']')
	}
}
