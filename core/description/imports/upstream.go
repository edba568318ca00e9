package imports

import (
	"cmp"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/weburl"
)

// upstream returns the upstream of the API: from the settings, or the first absolute server
// that is not a gateway. It returns "" if the extension has an upstream. A relative server is
// refused only if there is no such absolute one, because saved documents list relative
// addresses of their API among those of gateways.
func upstream(document, ext *doc.Node, s Settings) (string, error) {
	if s.UpstreamURL != "" {
		if !absolute(s.UpstreamURL) {
			return "", fault.New(fault.Invalid, "oas.upstream", "upstreamURL must be an absolute URL").At("upstreamURL")
		}
		return s.UpstreamURL, nil
	}
	if ext.Get("upstream", "url").Text() != "" || ext.Get("upstream", "loadBalancing", "targets").Len() > 0 {
		return "", nil
	}
	var refusal error
	for _, server := range document.Get("servers").Items() {
		if s.Own != nil && s.Own(server.Get("url").Text()) {
			continue
		}
		switch address, err := serverAddress(server); {
		case err != nil:
			refusal = cmp.Or(refusal, err)
		case s.Own == nil || !s.Own(address):
			return address, nil
		}
	}
	return "", cmp.Or(refusal, badServer("there is no server to forward to"))
}

// maxServer is the maximum length of a URL with its variables filled in: a variable may be
// used many times, and contain other ones.
const maxServer = 8192

// serverAddress returns the URL of a servers entry with the defaults of its variables.
func serverAddress(server *doc.Node) (string, error) {
	address := server.Get("url").Text()
	for name, v := range server.Get("variables").Members() {
		value := v.Get("default").Text()
		if value == "" {
			return "", badServer("the variable %q has no default", name)
		}
		spelt := "{" + name + "}"
		if len(address)+strings.Count(address, spelt)*(len(value)-len(spelt)) > maxServer {
			return "", badServer("the variable %q makes it longer than %d characters", doc.Short(name), maxServer)
		}
		address = strings.ReplaceAll(address, spelt, value)
	}
	if _, after, open := strings.Cut(address, "{"); open && strings.Contains(after, "}") {
		return "", badServer("%q has a variable without a value", address)
	}
	if !absolute(address) {
		return "", badServer("%q is not an absolute URL", address)
	}
	return address, nil
}

func badServer(format string, args ...any) error {
	return fault.New(fault.Invalid, "oas.servers",
		"error validating servers entry in OAS: "+format+"; supply a valid URL in upstreamURL", args...).At("servers")
}

func absolute(address string) bool {
	u, err := weburl.Parse(address)
	return err == nil && u.Scheme != "" && u.Host != ""
}
