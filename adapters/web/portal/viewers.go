package portal

import (
	"bytes"
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-io/gatehouse/adapters/web/portal/viewers"
)

// A viewer is a third-party program that shows an API description on a page of its own. The
// page uses no theme, and its content security policy allows only what the program needs.

// viewer is a program that shows descriptions.
type viewer struct {
	Name            string
	Scripts, Styles []string
	policy          string // in addition to the common policy
}

// shared is the common part of all policies: files and calls of this host only.
const shared = "default-src 'none'; script-src 'nonce-{nonce}'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "

// early are the hashes of the two styles that Redoc creates before it has the nonce: an empty
// one, and one for its scroll bars.
const early = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' 'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='"

// The viewers. Redoc puts the nonce on its styles and searches in a worker that it creates
// itself. Elements uses inline styles and does not support a nonce. GraphiQL needs neither.
var (
	redoc    = viewer{"redoc", []string{viewers.Redoc}, nil, "style-src 'nonce-{nonce}' " + early + "; worker-src blob:"}
	elements = viewer{"elements", []string{viewers.Elements}, []string{viewers.ElementsStyle}, "style-src 'self' 'unsafe-inline'"}
	graphiql = viewer{"graphiql", []string{viewers.React, viewers.ReactDOM, viewers.GraphiQL}, []string{viewers.GraphiQLStyle}, "style-src 'self' 'nonce-{nonce}'"}
)

// viewerPage is the page of a viewer. Data for scripts is in attributes.
var viewerPage = template.Must(template.New("").Funcs(template.FuncMap{"at": viewers.Address}).Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
{{range .Viewer.Styles}}<link rel="stylesheet" href="{{at .}}">
{{end}}<style nonce="{{.Nonce}}">
html, body { height: 100%; margin: 0; }
body { background: #fff; color: #16202e; display: flex; flex-direction: column; font: 16px/1.5 system-ui, "Liberation Sans", Arial, sans-serif; }
header { align-items: center; border-bottom: 1px solid #d5dce5; display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; padding: 0.6rem 1rem; }
header a { color: #1d4fd8; }
main { flex: 1; min-height: 0; }
#redoc-spec { min-height: 100%; }
.elements, .graphiql { height: 100%; }
</style>
</head>
<body>
<header><a href="{{.Back}}">{{.Name}}: plain view</a><a href="{{.Url}}" download>Download</a>
{{with .Try}}<label>Credential <select id="credential"><option value="">None of my apps</option>{{range .Credentials}}<option value="{{.ID}}">{{.App}} ({{.ID}})</option>{{end}}</select></label>{{end}}</header>
<main id="viewer" class="{{.Viewer.Name}}" data-spec="{{.Url}}" data-try="{{.Send}}" data-subscribe="{{.Subscribe}}" data-proof="{{.Proof}}">
{{if eq .Viewer.Name "elements"}}<elements-api apiDescriptionUrl="{{.Url}}" router="hash" layout="responsive" hideTryIt hideExport></elements-api>{{end}}
<noscript><p>This view needs scripts. <a href="{{.Back}}">The plain view</a> does not.</p></noscript>
</main>
{{if eq .Viewer.Name "graphiql"}}<template id="schema">{{.Schema}}</template>
{{end}}
{{range .Viewer.Scripts}}<script nonce="{{$.Nonce}}" src="{{at .}}"></script>
{{end}}{{if ne .Viewer.Name "elements"}}<script nonce="{{.Nonce}}" src="{{at "start.js"}}"></script>{{end}}
</body>
</html>
`))

// view shows a description with a viewer.
func (v *visit) view(d described) {
	at := "/portal/catalogue-products/" + url.PathEscape(v.r.PathValue("path")) + "/" + url.PathEscape(d.Alias)
	shown := elements
	switch {
	case d.Form != "oas":
		shown = graphiql
	case v.Renderer == "redoc":
		shown = redoc
	}
	data := map[string]any{"Title": d.Product + ": " + cmp.Or(d.Name, d.Alias), "Name": cmp.Or(d.Name, d.Alias), "Back": at + "/docs", "Url": at + "/docs/download", "Nonce": v.nonce, "Viewer": shown,
		"Schema": "", "Send": "", "Subscribe": "", "Proof": v.token, "Try": nil}
	if shown.Name == graphiql.Name {
		data["Schema"] = d.Text
		if d.Tryable && v.site.Viewer != nil {
			var t tryable
			if !v.get("/catalogue-products"+v.part("path")+v.part("api")+"/try", nil, &t) {
				return
			}
			calls := apiPrefix + "/catalogue-products" + v.part("path") + v.part("api")
			data["Send"], data["Subscribe"], data["Try"] = calls+"/try", calls+"/subscribe", t
		}
	}
	var out bytes.Buffer
	if err := viewerPage.Execute(&out, data); err != nil {
		v.broken("the page of a viewer is broken", err)
		return
	}
	v.w.Header().Set("Content-Security-Policy", strings.ReplaceAll(shared+shown.policy, "{nonce}", v.nonce))
	v.send(http.StatusOK, out.Bytes())
}

// licences lists the packages whose files are sent to browsers, with their licences.
func (v *visit) licences() {
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	v.send(http.StatusOK, []byte(viewers.Licences))
}
