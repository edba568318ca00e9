package portal

import (
	"bytes"
	"encoding/xml"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

// content shows the content page at an address.
func (v *visit) content() {
	path := v.r.URL.Path
	if strings.TrimSuffix(path, "/") == v.Home {
		path = "/"
	}
	a := v.call(http.MethodGet, "/content", url.Values{"path": {path}}, nil)
	if a.status == http.StatusNotFound && (!v.Alone && !below(path, pagesOnly) || !browses(v.r)) {
		v.load.End()
		v.api.ServeHTTP(v.w, v.r) // the service beside the portal may have the address, and programs do not read pages
		return
	}
	var c struct {
		Title, Path, Template string
		Blocks                map[string]block
	}
	if !v.read(a, &c) {
		return
	}
	v.title = c.Title
	shown, err := v.worn(v.r.Context())
	if err != nil {
		v.broken("there is no theme", err)
		return
	}
	entry, known := templateOf(shown.Content, c.Template)
	if !known {
		if entry, known = templateOf(v.Standard, c.Template); !known {
			v.absent()
			return
		}
	}
	v.show(http.StatusOK, entry.Template, map[string]any{"page": map[string]any{"Title": c.Title, "Path": c.Path}, "blocks": c.Blocks})
}

// templateOf returns the template that a page names by value or by name.
func templateOf(t theme.Content, name string) (theme.Template, bool) {
	for _, e := range t.Templates {
		if e.Template == name {
			return e, true
		}
	}
	for _, e := range t.Templates {
		if e.Name == name {
			return e, true
		}
	}
	return theme.Template{}, false
}

func (v *visit) blog() {
	var out struct {
		Posts                []article
		Total, Page, PerPage int
	}
	category := v.r.PathValue("category")
	if rest := v.r.PathValue("rest"); rest != "" { // themes may put a name with an unescaped slash into the path
		category += "/" + rest
	}
	if !v.get("/blog", url.Values{"category": {category}, "page": {v.r.URL.Query().Get("page")}}, &out) {
		return
	}
	latest := out.Posts[:min(3, len(out.Posts))]
	if category != "" || out.Page != 1 {
		latest = v.latest()
	}
	v.title = "Blog"
	v.show(http.StatusOK, "blog_listing", map[string]any{"blogSite": map[string]any{"Title": v.title, "Lede": ""}, "posts": out.Posts, "category": category, "latest_posts": latest, "paging": v.pages(out.Page, out.PerPage, out.Total)})
}

// latest returns the newest posts.
func (v *visit) latest() []article {
	var out struct{ Posts []article }
	v.peek("/blog", nil, &out)
	return out.Posts[:min(3, len(out.Posts))]
}

func (v *visit) post() {
	var p article
	if !v.get("/blog"+v.part("path"), nil, &p) {
		return
	}
	if p.URL != v.r.URL.Path {
		v.absent()
		return
	}
	v.title, v.about = p.Title, p.Lede
	v.show(http.StatusOK, "blog_detail", map[string]any{"post": p, "latest_posts": v.latest()})
}

// maxMapped is how many pages of products the sitemap lists.
const maxMapped = 100

// sitemap lists the public pages.
func (v *visit) sitemap() {
	var out bytes.Buffer
	out.WriteString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	add := func(path string) {
		out.WriteString("<url><loc>")
		_ = xml.EscapeText(&out, []byte(v.base()+path)) // writes to memory
		out.WriteString("</loc></url>")
	}
	if v.site.Visibility == "Public" {
		for _, path := range []string{v.Home, "/portal/catalogue-products"} {
			add(path)
		}
		for page := 1; page <= maxMapped; page++ {
			found := v.found(url.Values{"page": {strconv.Itoa(page)}})
			for _, p := range found.Products {
				add(productPage(p.Path))
			}
			if page*found.PerPage >= found.Total {
				break
			}
		}
	}
	out.WriteString("</urlset>\n")
	v.w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	v.send(http.StatusOK, out.Bytes())
}
