package sql

import (
	"strconv"
	"unique"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// meta is what the record table stores besides the document.
type meta struct {
	Keys []store.Key     `json:"k,omitempty"`
	Refs []integrity.Ref `json:"r,omitempty"`
	// Serial is missing in records of a program version without serials.
	Serial store.Serial `json:"s,omitempty"`
}

// metaOf decodes the JSON of a meta. It avoids reflection, which would take a third of
// the time to load the records at start.
func metaOf(text []byte) (m meta, err error) {
	if doc.Check(text, 0) != nil {
		return m, errNoMeta
	}
	p := metaParser{text: text}
	p.inside(0, '{', func(name []byte, at int) int {
		switch string(name) {
		case `"k"`:
			return p.inside(at, '[', func(_ []byte, at int) int {
				m.Keys = append(m.Keys, store.Key{})
				return p.key(at, &m.Keys[len(m.Keys)-1])
			})
		case `"r"`:
			return p.inside(at, '[', func(_ []byte, at int) int {
				m.Refs = append(m.Refs, integrity.Ref{})
				return p.ref(at, &m.Refs[len(m.Refs)-1])
			})
		case `"s"`:
			serial, end := p.number(at, 64)
			m.Serial = store.Serial(serial)
			return end
		}
		return doc.End(text, at)
	})
	if p.wrong {
		err = errNoMeta
	}
	return m, err
}

// metaParser parses values of a valid text.
type metaParser struct {
	text  []byte
	wrong bool // a value had an unexpected type
}

func (p *metaParser) key(at int, k *store.Key) (end int) {
	return p.inside(at, '{', func(name []byte, at int) (end int) {
		switch string(name) {
		case `"i"`:
			k.Index, end = p.string(at)
			k.Index = unique.Make(k.Index).Value()
		case `"v"`:
			k.Value, end = p.string(at)
		case `"u"`:
			k.Unique, end = p.flag(at)
		case `"s"`:
			k.Sorted, end = p.flag(at)
		case `"a"`:
			k.Across, end = p.flag(at)
		default:
			end = doc.End(p.text, at)
		}
		return end
	})
}

func (p *metaParser) ref(at int, r *integrity.Ref) (end int) {
	return p.inside(at, '{', func(name []byte, at int) (end int) {
		switch string(name) {
		case `"kind"`:
			r.Kind, end = p.string(at)
			r.Kind = unique.Make(r.Kind).Value()
		case `"id"`:
			r.ID, end = p.string(at)
		case `"field"`:
			r.Field, end = p.string(at)
		case `"on_delete"`:
			var rule uint64
			rule, end = p.number(at, 8)
			r.OnDelete = integrity.Rule(rule)
		default:
			end = doc.End(p.text, at)
		}
		return end
	})
}

// inside calls part for each value in the object or array at a position.
func (p *metaParser) inside(at int, opening byte, part func(name []byte, at int) int) (end int) {
	if at >= len(p.text) || p.text[at] != opening {
		p.wrong = true
		return doc.End(p.text, at)
	}
	return doc.Inside(p.text, at, part)
}

func (p *metaParser) string(at int) (text string, end int) {
	end = doc.End(p.text, at)
	text, err := doc.Unquote(p.text[at:end])
	p.wrong = p.wrong || err != nil
	return text, end
}

func (p *metaParser) flag(at int) (set bool, end int) {
	end = doc.End(p.text, at)
	set = p.text[at] == 't'
	p.wrong = p.wrong || !set && p.text[at] != 'f'
	return set, end
}

func (p *metaParser) number(at, bits int) (n uint64, end int) {
	end = doc.End(p.text, at)
	n, err := strconv.ParseUint(string(p.text[at:end]), 10, bits)
	p.wrong = p.wrong || err != nil
	return n, end
}
