package config

import (
	"net/url"
	"slices"
)

// Console says how the operations console is served (docs/guide-console.md#settings).
type Console struct {
	Enabled bool
	Servers []string // origins of other control planes that this console may call
	Origins []string // origins of other consoles that may call this control plane
}

// showing lists the settings about browsers.
var showing = []setting{
	{name: "console.enabled", preset: "true", field: func(s *Settings) any { return &s.Console.Enabled },
		meaning: "serve the operations console to browsers at /; other programs get the response of the API there"},
	{name: "console.servers", field: func(s *Settings) any { return &s.Console.Servers },
		meaning: "origins of other control planes, such as https://plane.example.com, to which users of this console may log in with an access key"},
	{name: "console.origins", field: func(s *Settings) any { return &s.Console.Origins },
		meaning: "origins of consoles on other hosts that may call this control plane with an access key. Cookies are ignored in such calls"},
}

// origin reports whether s is an origin as browsers write it (RFC 6454, 6.2). It may
// become part of a Content-Security-Policy, so nothing else is accepted.
func origin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && absolute(s) && s == u.Scheme+"://"+u.Host && !slices.ContainsFunc([]byte(u.Host), func(c byte) bool {
		return c == ' ' || c == ';' || c == ',' || c == '*' || c == '\'' || c < '!' || c > '~'
	})
}
