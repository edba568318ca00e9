package http

import (
	nethttp "net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// listing is the total size of a list of which an answer shows a part.
type listing struct {
	set               bool
	total, page, size int
}

// header sets the headers for the size of the list, with links to its other pages
// (RFC 8288). The addresses are relative: the public address of the service is not known here.
func (l listing) header(h nethttp.Header, asked *url.URL) {
	h["X-Total-Count"] = []string{strconv.Itoa(l.total)}
	h["X-Page"] = []string{strconv.Itoa(max(1, l.page))}
	h["X-Per-Page"] = []string{strconv.Itoa(l.size)}
	if l.page == 0 || l.size < 1 {
		return
	}
	link := func(page int, rel string) string {
		q, _ := operation.ReadQuery(asked.RawQuery)
		q.Set("page", strconv.Itoa(page))
		return "<" + asked.EscapedPath() + "?" + q.Encode() + `>; rel="` + rel + `"`
	}
	var links []string
	last := (l.total + l.size - 1) / l.size
	if l.page < last {
		links = append(links, link(l.page+1, "next"))
	}
	if l.page > 1 && last > 0 {
		links = append(links, link(min(l.page-1, last), "prev"))
	}
	if len(links) > 0 {
		h["Link"] = []string{strings.Join(links, ", ")}
	}
}

// listOutput is the wire form of a listing: its items, encoded piece by piece.
func listOutput(t reflect.Type) output {
	items, _ := t.FieldByName("Items")
	write := func(b *buffer, v any) error {
		list := reflect.ValueOf(v).FieldByIndex(items.Index)
		gap, end := "", ""
		if b.tabs && list.Len() > 0 {
			gap, end, b.depth = "\n\t", "\n", "\t"
		}
		b.text = append(b.text, '[')
		return b.each(list, gap, func() {
			b.depth = ""
			b.text = append(append(b.text, end...), ']')
		})
	}
	return output{of: t, form: listingForm, elem: items.Type.Elem(), write: write}
}

// failureOf returns the form of an error answer: from the row's entry for the fault, or from its
// style. FailureAction is for status 422 only; with other statuses it becomes FailureList.
func failureOf(spec *operation.Spec, f *fault.Error, status int) operation.Failure {
	if form := ownAnswer(f, spec.Style.Faults).Form; form != operation.FailureList {
		return form
	}
	if spec.Style.Failure == operation.FailureAction && status != nethttp.StatusUnprocessableEntity {
		return operation.FailureList
	}
	return spec.Style.Failure
}
