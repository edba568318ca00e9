package servers

import (
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Location is the parts of a public URL of an API (docs/wire/oas-apis.md#addresses). Port is
// nil if it is the default of the protocol.
type Location struct {
	Protocol        string  `json:"protocol"`
	Domain          string  `json:"domain"`
	Port            *int    `json:"port"`
	ListenPath      string  `json:"listen_path"`   // without leading and trailing slash
	EndpointPath    string  `json:"endpoint_path"` // segment that selects the version
	QueryParameters []Value `json:"query_parameters"`
	Headers         []Value `json:"headers"`
	URL             string  `json:"url"`
}

// URLs returns the public addresses of an API; those of a version are the routes through its
// base. Relative addresses are left out. Old definitions are not used; errors are as with
// Merge.
func URLs(in Input) ([]Location, error) {
	out := []Location{}
	for _, a := range in.after() {
		if a.host == "" {
			continue
		}
		host, err := server(a.host)
		if err != nil {
			return nil, err
		}
		whole, err := server(a.String())
		if err != nil {
			return nil, err
		}
		listen, err := server(a.path)
		if err != nil {
			return nil, err
		}
		l := locate(host.Get("url").Text())
		l.ListenPath = strings.Trim(l.ListenPath+listen.Get("url").Text(), "/")
		l.EndpointPath, l.URL = a.version, whole.Get("url").Text()
		l.QueryParameters, l.Headers = values(a.query), values(a.header)
		out = append(out, l)
	}
	return out, nil
}

// locate splits a host into protocol, name, port, and a path before the listen path.
func locate(host string) Location {
	protocol, rest, ok := strings.Cut(host, "://")
	if !ok {
		protocol, rest = "http", host
	}
	name, prefix, _ := strings.Cut(rest, "/")
	l := Location{Protocol: protocol, Domain: name}
	if prefix != "" {
		l.ListenPath = "/" + prefix
	}
	i := strings.LastIndexByte(name, ':')
	if i < 0 || strings.HasSuffix(name, "]") {
		return l
	}
	if port, err := strconv.Atoi(name[i+1:]); err == nil {
		l.Domain = name[:i]
		if port != 80 && port != 443 {
			l.Port = &port
		}
	}
	return l
}

func values(v Value) []Value {
	if v.Name == "" {
		return []Value{}
	}
	return []Value{v}
}

// Parts is the address of an API in the form for old clients
// (docs/wire/apis.md#owners-and-categories).
type Parts struct {
	APIURL   string `json:"ApiURL"`
	BasePath string `json:"BasePath"` // the listen path
	Host     string `json:"Host"`     // with port, without protocol
}

// ClassicURL returns the first address of an API, ignoring versions. It is relative if no host
// is known, and empty if the listen path is a reference, because only gateways can resolve it.
func ClassicURL(api *doc.Node, c Config) Parts {
	host := hosts(api, c)[0]
	_, name, _ := strings.Cut(host, "://")
	if name == "" {
		name = host
	}
	listen := api.Get("proxy", "listen_path").Text()
	if validation.IsReference(listen) {
		return Parts{BasePath: listen, Host: name}
	}
	return Parts{APIURL: host + "/" + strings.TrimPrefix(listen, "/"), BasePath: listen, Host: name}
}
