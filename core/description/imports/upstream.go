package imports

import (
	"cmp"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/weburl"
)

// upstream chooses where the API forwards to: the setting, what the extension
// has (then "" is returned), or the first absolute server that is not a gateway. What is
// no absolute address is refused only when there is no such server: saved documents list
// relative addresses of their API among those of gateways.
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

// maxServer is how long an address may be once its variables are filled in: each of them may
// stand there many times, and hold others.
const maxServer = 8192

// serverAddress returns the address of a servers entry with the defaults of its
// variables filled in.
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
