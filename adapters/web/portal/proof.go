package portal

import (
	"bytes"
	"html/template"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// withProofs inserts the CSRF token into forms of a rendered page, so that themes need not.
// A form that posts to this host and lacks the field gets it after its start tag. The rest
// of the page stays unchanged. token is called when a form needs it.
func withProofs(page []byte, host string, token func() string) []byte {
	z := html.NewTokenizer(bytes.NewReader(page))
	var out []byte
	copied, at, open := 0, 0, 0 // open: the offset after the start tag of a form that lacks the field; 0: there is none
	closed := func() {
		if open == 0 {
			return
		}
		field := `<input type="hidden" name="` + tokenField + `" value="` + template.HTMLEscapeString(token()) + `">`
		out = append(append(out, page[copied:open]...), field...)
		copied, open = open, 0
	}
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		at += len(z.Raw())
		name, more := z.TagName()
		switch starts := kind == html.StartTagToken || kind == html.SelfClosingTagToken; {
		case starts && string(name) == "form":
			closed()
			if posted(attributesOf(z, more), host) {
				open = at
			}
		case kind == html.EndTagToken && string(name) == "form":
			closed()
		case starts && string(name) == "input" && attributesOf(z, more)["name"] == tokenField:
			open = 0
		case starts && string(name) == "noscript":
			z.NextIsNotRawText() // browsers without scripts use forms inside noscript
		}
	}
	closed()
	if out == nil {
		return page
	}
	return append(out, page[copied:]...)
}

// attributesOf reads the attributes of the tokenizer's current tag.
func attributesOf(z *html.Tokenizer, more bool) map[string]string {
	out := map[string]string{}
	for more {
		var name, value []byte
		name, value, more = z.TagAttr()
		if _, twice := out[string(name)]; !twice { // browsers use the first occurrence
			out[string(name)] = string(value)
		}
	}
	return out
}

// posted reports whether a form on a page of a host is posted to the same host. It returns
// false for values that browsers may parse differently.
func posted(form map[string]string, host string) bool {
	action := strings.TrimSpace(form["action"])
	if !strings.EqualFold(strings.TrimSpace(form["method"]), "post") || strings.ContainsAny(action, "\\\r\n\t") {
		return false
	}
	to, err := url.Parse(action)
	if err != nil || to.Opaque != "" {
		return false
	}
	return to.Host == "" && to.Scheme == "" || to.Host == host && (to.Scheme == "" || to.Scheme == "http" || to.Scheme == "https")
}
