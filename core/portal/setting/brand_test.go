package setting_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

// TestBrand: valid settings of the look.
func TestBrand(t *testing.T) {
	for body, want := range map[string]string{
		`{"SiteName":"Acme APIs","SiteDescription":"For shops","FooterText":"© Acme"}`: "",
		`{"SiteName":""}`:                                                      "",
		`{"SiteName":"a\nb"}`:                                                  "SiteName is invalid",
		`{"AccentColour":"#c0392b"}`:                                           "",
		`{"AccentColour":""}`:                                                  "",
		`{"AccentColour":"red"}`:                                               "AccentColour is invalid",
		`{"AccentColour":"#c0392g"}`:                                           "AccentColour is invalid",
		`{"AccentColour":"#fff;}*{display:none"}`:                              "AccentColour is invalid",
		`{"FontFamily":"Georgia, serif"}`:                                      "",
		`{"FontFamily":"x;} body{display:none"}`:                               "FontFamily is invalid",
		`{"FontFamily":"url(//evil)"}`:                                         "FontFamily is invalid",
		`{"Logo":"/assets/acme.svg"}`:                                          "",
		`{"Logo":"data:image/png;base64,aGk="}`:                                "",
		`{"Logo":"//evil.example/x.png"}`:                                      "Logo is invalid",
		`{"Logo":"https://evil.example/x.png"}`:                                "Logo is invalid",
		`{"Logo":"data:text/html;base64,aGk="}`:                                "Logo is invalid",
		`{"Logo":"javascript:alert(1)"}`:                                       "Logo is invalid",
		`{"Logo":"data:image/png;base64,` + strings.Repeat("a", 20_000) + `"}`: "Logo is invalid",
	} {
		s := setting.Default()
		got := strings.Join(tabletest.Apply(t, &s, body, false), "; ")
		if !strings.HasPrefix(got, strings.TrimSuffix(want, "invalid")) || (got == "") != (want == "") {
			t.Errorf("%.60s: %q, want %q", body, got, want)
		}
	}
}

// TestAccents: links are legible with any colour.
func TestAccents(t *testing.T) {
	for _, c := range []struct{ colour, light, dark string }{
		{"", "", ""}, {"#1d4fd8", "#1d4fd8 #ffffff", "#567be2 #000000"}, {"#ffff00", "#737300 #ffffff", "#ffff00 #000000"}, {"#ffffff", "#737373 #ffffff", "#ffffff #000000"}, {"#000000", "#000000 #ffffff", "#808080 #000000"},
	} {
		b := setting.Settings{AccentColour: c.colour}.Brand()
		if got := strings.TrimSpace(b.Light.Colour + " " + b.Light.Ink); got != c.light {
			t.Errorf("%s: %s, want %s", c.colour, got, c.light)
		}
		if got := strings.TrimSpace(b.Dark.Colour + " " + b.Dark.Ink); got != c.dark {
			t.Errorf("%s in the dark: %s, want %s", c.colour, got, c.dark)
		}
	}
	if b := (setting.Settings{}).Brand(); b.Name != setting.SiteName {
		t.Error(b)
	}
}
