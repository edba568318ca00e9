package http

import (
	nethttp "net/http"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// CodeCrossSite is the fault code for a page of another site that tries to log its
// visitor in or out.
const CodeCrossSite = "browser.cross_site"

// crossSite is the fault with that code.
var crossSite = fault.New(fault.Denied, CodeCrossSite, "access denied: the request comes from a page of another site")

func (x *exchange) cookie(name string) string {
	c, err := x.http.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

var crossOrigin = nethttp.NewCrossOriginProtection()

// sameSite maps names to the modes of cookies.
var sameSite = map[string]nethttp.SameSite{"": nethttp.SameSiteLaxMode, "Lax": nethttp.SameSiteLaxMode, "Strict": nethttp.SameSiteStrictMode, "None": nethttp.SameSiteNoneMode}

// written encodes a cookie for the Set-Cookie header.
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
