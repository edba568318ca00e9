package apidef

import "encoding/json"

// place is where an API expects a key or a token.
type place struct {
	Header string `json:"auth_header_name"`
	Cookie string `json:"cookie_name"`
	Param  string `json:"param_name"`
}

// Credentials returns the names of the headers, cookies and query parameters in which gateways
// look for keys and tokens of the API.
func (a API) Credentials() (names []string) {
	var d struct {
		Auth    place            `json:"auth"`
		Configs map[string]place `json:"auth_configs"`
	}
	if json.Unmarshal(a.definition, &d) != nil {
		return nil // stored before types were checked: gateways leave it out as well
	}
	places := []place{d.Auth}
	for _, p := range d.Configs {
		places = append(places, p)
	}
	for _, p := range places {
		for _, name := range []string{p.Header, p.Cookie, p.Param} {
			if name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}
