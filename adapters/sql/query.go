package sql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// page returns the statement for the next records that q selects. There are few
// different texts, so that each is prepared once. Common limits are literals in the
// text: SQLite prepares a statement again whenever a bound limit is set.
func (r *reader) page(q store.Query, last store.Record, first bool, limit, offset int) (string, []any) {
	c, table := r.where(q), ` from record r`
	if q.Index != "" {
		// The key comes first: without statistics, a query planner would rather walk
		// all records of the kind. SQLite keeps the order of a cross join.
		table = ` from record_key k cross join record r`
		c.add(` and r.kind = k.kind and r.org = k.org and r.id = k.id`)
	}
	columns, from, back, than := leading(q)+".org", string(last.Org), "", ">"
	if q.Sorted {
		columns, from = "k.value", keyText(sortValue(&last, q.Index))
	}
	if q.Desc {
		back, than = " desc", "<"
	}
	id := leading(q) + ".id"
	if !first {
		c.add(` and (`+columns+`, `+id+`) `+than+` ($%d, $%d)`, from, last.ID)
	}
	c.add(` order by ` + columns + back + `, ` + id + back)
	if slices.Contains(pageSizes[:], limit) {
		c.text.WriteString(` limit ` + strconv.Itoa(limit))
	} else {
		c.add(` limit $%d`, limit)
	}
	if offset > 0 {
		c.add(` offset $%d`, offset)
	}
	return `select r.kind, r.org, r.id, r.rev, r.doc, r.meta` + table + c.text.String(), c.args
}

// sortValue returns the value of a record in a sorted index.
func sortValue(r *store.Record, index string) string {
	for _, k := range r.Keys {
		if k.Index == index && k.Sorted {
			return k.Value
		}
	}
	return ""
}

// conditions is the part of a query after "where", with its arguments.
type conditions struct {
	text strings.Builder
	args []any
}

// add appends text; each %d is replaced by the number of a value's parameter.
func (c *conditions) add(format string, values ...any) {
	at := make([]any, len(values))
	for i, v := range values {
		c.args = append(c.args, v)
		at[i] = len(c.args)
	}
	fmt.Fprintf(&c.text, format, at...)
}

// where returns the conditions for what q selects. Every condition on the organisation
// comes from the scope, so that none can be forgotten.
func (r *reader) where(q store.Query) *conditions {
	c := &conditions{}
	t := leading(q)
	c.add(` where `+t+`.kind = $%d`, q.Kind)
	if q.Index != "" {
		c.add(` and k.name = $%d`, q.Index)
	}
	switch {
	case q.Sorted:
		c.text.WriteString(` and k.sorted = 1`)
		if low := keyText(q.Prefix); low != "" {
			c.add(` and k.value >= $%d`, low)
			if high, ok := successor(low); ok {
				c.add(` and k.value < $%d`, high)
			}
		}
	case q.Index != "":
		c.add(` and k.value = $%d`, keyText(q.Value))
	}
	if !r.scope.All() {
		c.add(` and `+t+`.org = $%d`, string(r.scope.Org()))
	}
	if q.Sorted {
		return c
	}
	if q.ID != "" {
		c.add(` and `+t+`.id = $%d`, idText(q.ID))
	}
	if q.After != "" {
		c.add(` and `+t+`.id `+map[bool]string{false: ">", true: "<"}[q.Desc]+` $%d`, idText(q.After))
	}
	return c
}

// idText returns an identifier for a lookup. PostgreSQL accepts neither NUL nor invalid
// UTF-8, which a path may contain; such identifiers match nothing stored.
func idText(id string) string {
	if strings.IndexByte(id, 0) < 0 && utf8.ValidString(id) {
		return id
	}
	return keyText(id)
}

// keyText returns the value of a key as stored, without NUL. It preserves the order.
func keyText(value string) string {
	if !strings.ContainsAny(value, "\x00\x01") && utf8.ValidString(value) {
		return value
	}
	return strings.ToValidUTF8(strings.NewReplacer("\x00", "\x01\x01", "\x01", "\x01\x02").Replace(value), "\x01\x03")
}

// successor returns the smallest text that is greater than all texts with a prefix.
func successor(prefix string) (string, bool) {
	for prefix != "" {
		last, size := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-size]
		switch {
		case last == surrogates-1:
			return prefix + string(rune(surrogatesEnd)), true
		case last < utf8.MaxRune:
			return prefix + string(last+1), true
		}
	}
	return "", false
}

// Code points that no text contains.
const (
	surrogates    = 0xd800
	surrogatesEnd = 0xe000
)

// leading returns the table that determines the order of the result.
func leading(q store.Query) string {
	if q.Index != "" {
		return "k"
	}
	return "r"
}
