package http

import (
	"maps"
	nethttp "net/http"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// CodeCrossSite is the code of the fault for a page of another site that tries to log
// its visitor in or out.
const CodeCrossSite = "browser.cross_site"

// crossSite answers it.
var crossSite = fault.New(fault.Denied, CodeCrossSite, "access denied: the request comes from a page of another site")

// present takes over the cookies that a browser presents. An access key comes first: who sends one
// means it, and pages of other sites cannot.
func (x *exchange) present() {
	if x.row.spec.BySession || x.row.spec.Visited || x.row.dialect.browser && x.call.Token == "" {
		x.call.Session, x.call.Proof = x.cookie(x.row.session), x.http.Header.Get(operation.ProofHeader)
	}
	for _, name := range x.row.cookies {
		if x.call.Cookies == nil {
			x.call.Cookies = make(map[string]string, len(x.row.cookies))
		}
		x.call.Cookies[name] = x.cookie(name)
	}
}

func (x *exchange) cookie(name string) string {
	c, err := x.http.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

var crossOrigin = nethttp.NewCrossOriginProtection()

// land settles the whole answer to a browser that goes on elsewhere.
func (x *exchange) land(l operation.Landing) (done bool) {
	if l.Location == "" {
		return false
	}
	x.extra = maps.Clone(x.extra)
	if x.extra == nil {
		x.extra = map[string]string{}
	}
	x.extra["Location"] = l.Location
	x.status, x.mediaType, x.body = nethttp.StatusSeeOther, jsonType, nil
	return true
}

// sameSite are the modes of cookies by name.
var sameSite = map[string]nethttp.SameSite{"": nethttp.SameSiteLaxMode, "Lax": nethttp.SameSiteLaxMode, "Strict": nethttp.SameSiteStrictMode, "None": nethttp.SameSiteNoneMode}

// written returns a cookie as a header has it.
func written(c operation.Cookie) string {
	out := nethttp.Cookie{Name: c.Name, Value: c.Value, Path: c.Path, HttpOnly: !c.Script, Secure: c.Secure, SameSite: sameSite[c.SameSite], MaxAge: int(c.Life.Seconds())}
	if out.Path == "" {
		out.Path = "/"
	}
	if out.MaxAge <= 0 {
		out.MaxAge = -1
	}
	return out.String()
}
