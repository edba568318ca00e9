package portal

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// found searches for products. Visitors without permission get none.
func (v *visit) found(q url.Values) (out found) {
	v.peek("/catalogue-products", q, &out)
	return out
}

func (v *visit) products(q url.Values) []product { return v.curious(q, v.found(q).Products) }

// curious gives the products of a list access to their APIs, which are requested once, and only if
// a template uses them.
func (v *visit) curious(q url.Values, list []product) []product {
	apis := sync.OnceValue(func() map[int][]api {
		with := maps.Clone(q)
		with.Set("apis", "true")
		out := map[int][]api{}
		for _, p := range v.found(with).Products {
			out[p.ID] = p.APIs
		}
		return out
	})
	for i := range list {
		list[i].later = apis
	}
	return list
}

// paging holds the links to the other pages of a list.
type paging struct {
	Page, Pages, Total int
	Previous, Next     string
}

// pages returns the links to the previous and next page of a list.
func (v *visit) pages(page, per, total int) paging {
	return v.pagesOf(v.r.URL.Path, page, per, total)
}

// pagesOf returns the links for a list at another address than the visit's.
func (v *visit) pagesOf(path string, page, per, total int) paging {
	p := paging{Page: page, Pages: (total + per - 1) / max(per, 1), Total: total}
	at := func(n int) string {
		q := v.r.URL.Query()
		q.Set("page", strconv.Itoa(n))
		q.Del("done") // a message about what the visitor has just done, for this page only
		return path + "?" + q.Encode()
	}
	if page > 1 {
		p.Previous = at(page - 1)
	}
	if page < p.Pages {
		p.Next = at(page + 1)
	}
	return p
}

func (v *visit) catalogue() {
	q := v.searched()
	var out found
	if !v.get("/catalogue-products", q, &out) {
		return
	}
	v.title = "Product Catalogues"
	v.show(http.StatusOK, "catalogue", map[string]any{"page": map[string]any{"Title": v.title}, "products": v.curious(q, out.Products), "catalogues": out.Catalogues, "total": out.Total,
		"search": q.Get("search"), "catalogue": q.Get("catalogue"), "paging": v.pages(out.Page, out.PerPage, out.Total)})
}

// maxTutorials is how many bytes of tutorials the page of a product shows: the output of a page is
// bounded, and exceeding the bound is an error.
const maxTutorials = 512 << 10

// How many plans the page of a product shows, and how many bytes of their descriptions.
const (
	plansPerPage = 50
	maxPlans     = 512 << 10
)

func (v *visit) product() {
	var p product
	if !v.get("/catalogue-products"+v.part("path"), nil, &p) {
		return
	}
	p.offerIn()
	// The page of plans to show; the last page if the number is too high.
	total := len(p.Plans)
	page := min(v.number(), 1+max(0, total-1)/plansPerPage)
	from := (page - 1) * plansPerPage
	p.Plans = p.Plans[from:min(from+plansPerPage, total)]
	for i := range p.Plans {
		one := &p.Plans[i]
		if text, cut := printable(one.Description, maxPlans/len(p.Plans)); cut {
			one.Description = text + "…"
		}
	}
	left := maxTutorials
	for i := range p.Tutorials {
		t := &p.Tutorials[i]
		t.ProductID = p.ID
		if left -= len(t.Content) + len(t.Markdown); left < 0 {
			t.prose = prose{Content: "<p>There is more than this page can show.</p>"}
		}
	}
	added := slices.ContainsFunc(v.picks(), func(o picked) bool { return o.product == p.ID })
	v.title, v.about, v.subject = p.Name, p.Description, p
	v.show(http.StatusOK, "portal_product_detail", map[string]any{"done": done[v.r.URL.Query().Get("done")], "product": p, "catalogues": p.Shelves, "unique_plans": p.Plans, "scopes": words(p.Scopes), "posts": p.Posts, "added": added,
		"paging": v.pages(page, plansPerPage, total)})
}

// described is the description of an API.
type described struct {
	Product, Name, Alias, Form, MediaType, Text, ServedAt string
	Tryable                                               bool
}

// described requests the description that the address names, or shows why it cannot be read: one on
// another host may be unavailable for a while.
func (v *visit) described(out *described) bool {
	a := v.call(http.MethodGet, "/catalogue-products"+v.part("path")+v.part("api")+"/docs", nil, nil)
	if a.status == http.StatusServiceUnavailable && len(a.faults()) > 0 {
		v.notice(http.StatusBadGateway, strings.Join(a.faults(), " "))
		return false
	}
	return v.read(a, out)
}

// subscribes matches subscriptions in a schema, or in the result of an introspection.
var subscribes = regexp.MustCompile(`(?m)^\s*type\s+Subscription\b|^\s*subscription\s*:|"subscriptionType"\s*:\s*\{`)

// maxSchema is how many bytes of a schema a page shows, counted as printed.
const maxSchema = 1 << 20

// printable returns the part of a text that a page shows, at most most bytes, and whether it was
// cut. HTML special characters count as entities of five bytes.
func printable(text string, most int) (part string, cut bool) {
	printed := 0
	for i, c := range text {
		if printed += utf8.RuneLen(c); strings.ContainsRune(`"&'<>+`, c) {
			printed += 4
		}
		if printed > most {
			return text[:i], true
		}
	}
	return text, false
}

// docView returns the view for OpenAPI descriptions.
func (v *visit) docView() string {
	if v.Renderer == "redoc" {
		return "product_doc_redoc"
	}
	return "product_doc_stoplight_spec"
}

func (v *visit) docs() {
	var d described
	if !v.described(&d) {
		return
	}
	if v.r.URL.Query().Get("embed") == "1" {
		v.view(d)
		return
	}
	v.title = d.Product + ": " + cmp.Or(d.Name, d.Alias)
	at := productPage(v.r.PathValue("path")) + "/"
	data := map[string]any{"Name": cmp.Or(d.Name, d.Alias), "Description": "", "Path": at + url.PathEscape(d.Alias) + "/docs", "Url": at + url.PathEscape(d.Alias) + "/docs/download",
		"product": named(d.Product), "api": named(cmp.Or(d.Name, d.Alias)), "back": strings.TrimSuffix(at, "/"), "text": d.Text, "try": ""}
	if d.Tryable {
		data["try"] = at + url.PathEscape(d.Alias) + "/try"
	}
	if d.Form != "oas" {
		data["text"], data["Cut"] = printable(d.Text, maxSchema)
		data["subscribes"] = subscribes.MatchString(d.Text)
		v.show(http.StatusOK, "product_doc_graphql_playground", data)
		return
	}
	if ref, err := v.drawn(d); err == nil {
		data["reference"], data["Description"] = ref, ref.Description
	}
	v.show(http.StatusOK, v.docView(), data)
}

// extensions are the file name extensions of media types.
var extensions = map[string]string{"application/json": ".json", "application/x-yaml": ".yaml", "application/yaml": ".yaml", "application/graphql": ".graphql"}

func (v *visit) download() {
	var d described
	if !v.described(&d) {
		return
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, d.Alias)
	h := v.w.Header()
	h.Set("Content-Type", cmp.Or(d.MediaType, "text/plain; charset=utf-8"))
	h.Set("Content-Disposition", `attachment; filename="`+name+cmp.Or(extensions[d.MediaType], ".txt")+`"`)
	v.send(http.StatusOK, []byte(d.Text))
}
