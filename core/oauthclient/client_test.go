package oauthclient_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/oauthclient"
)

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		draft     oauthclient.Draft
		separator string
		field     string // "": valid
	}{
		"nothing":                   {oauthclient.Draft{}, "", ""},
		"all":                       {oauthclient.Draft{ID: "5b30e703", Secret: "s3cret/+=", RedirectURI: "https://app.example/cb?x=1", Policy: "gold", Description: "An app", Name: "App", Meta: doctest.Node(t, `{"a":{"b":[1]}}`)}, ",", ""},
		"null metadata":             {oauthclient.Draft{Meta: doctest.Node(t, `null`)}, "", ""},
		"an ID with other letters":  {oauthclient.Draft{ID: "a/b"}, "", "client_id"},
		"an ID that is a folder":    {oauthclient.Draft{ID: ".."}, "", "client_id"},
		"a long ID":                 {oauthclient.Draft{ID: strings.Repeat("a", 129)}, "", "client_id"},
		"a secret of two lines":     {oauthclient.Draft{Secret: "a\nb"}, "", "secret"},
		"a long secret":             {oauthclient.Draft{Secret: strings.Repeat("a", 257)}, "", "secret"},
		"several addresses":         {oauthclient.Draft{RedirectURI: "https://a.example/cb;https://b.example/cb"}, ";", ""},
		"one of them is none":       {oauthclient.Draft{RedirectURI: "https://a.example/cb;b"}, ";", "redirect_uri"},
		"an empty one":              {oauthclient.Draft{RedirectURI: "https://a.example/cb;"}, ";", "redirect_uri"},
		"an app on a phone":         {oauthclient.Draft{RedirectURI: "com.example.app:/callback"}, "", ""},
		"a path":                    {oauthclient.Draft{RedirectURI: "/callback"}, "", "redirect_uri"},
		"a scheme alone":            {oauthclient.Draft{RedirectURI: "https://"}, "", "redirect_uri"},
		"a fragment":                {oauthclient.Draft{RedirectURI: "https://a.example/#x"}, "", "redirect_uri"},
		"an empty fragment":         {oauthclient.Draft{RedirectURI: "https://a.example/#"}, "", "redirect_uri"},
		"a script":                  {oauthclient.Draft{RedirectURI: "JavaScript:alert(1)"}, "", "redirect_uri"},
		"data":                      {oauthclient.Draft{RedirectURI: "data:text/html,x"}, "", "redirect_uri"},
		"a long address":            {oauthclient.Draft{RedirectURI: "https://a.example/" + strings.Repeat("a", 2<<10)}, "", "redirect_uri"},
		"many addresses":            {oauthclient.Draft{RedirectURI: strings.Repeat("https://a.example/,", 500)}, ",", "redirect_uri"},
		"a long description":        {oauthclient.Draft{Description: strings.Repeat("a", 4<<10+1)}, "", "description"},
		"a long name":               {oauthclient.Draft{Name: strings.Repeat("a", 4<<10+1)}, "", "client_name"},
		"a list as metadata":        {oauthclient.Draft{Meta: doctest.Node(t, `[1]`)}, "", "meta_data"},
		"large metadata":            {oauthclient.Draft{Meta: doctest.Node(t, `{"a":"`+strings.Repeat("a", 64<<10)+`"}`)}, "", "meta_data"},
		"deep metadata":             {oauthclient.Draft{Meta: doctest.Node(t, `{"a":`+strings.Repeat("[", 30)+strings.Repeat("]", 30)+`}`)}, "", "meta_data"},
		"metadata in our own place": {oauthclient.Draft{Meta: doctest.Node(t, `{"gatehouse_client_name":"x"}`)}, "", "meta_data"},
	} {
		err := c.draft.Check(c.separator)
		field := ""
		if f, ok := err.(*fault.Error); ok { //nolint:errorlint // it is not wrapped
			field = f.Field
		}
		if field != c.field || (err == nil) != (c.field == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKept(t *testing.T) {
	for name, c := range map[string]struct {
		draft oauthclient.Draft
		kept  string
		meta  string
	}{
		"nothing":      {oauthclient.Draft{}, `{}`, `{}`},
		"null":         {oauthclient.Draft{Meta: doctest.Node(t, `null`)}, `{}`, `{}`},
		"a name":       {oauthclient.Draft{Name: "App"}, `{"gatehouse_client_name":"App"}`, `{}`},
		"both":         {oauthclient.Draft{Name: "App", Meta: doctest.Node(t, `{"a":1}`)}, `{"a":1,"gatehouse_client_name":"App"}`, `{"a":1}`},
		"metadata":     {oauthclient.Draft{Meta: doctest.Node(t, `{"a":1}`)}, `{"a":1}`, `{"a":1}`},
		"of gateways":  {oauthclient.Draft{Meta: nil}, `{}`, `{}`},
		"quoted texts": {oauthclient.Draft{Name: `"`, Meta: doctest.Node(t, `{"a":"\""}`)}, `{"a":"\"","gatehouse_client_name":"\""}`, `{"a":"\""}`},
	} {
		kept := c.draft.Kept()
		if string(kept.JSON()) != c.kept {
			t.Errorf("%s: kept %s", name, kept.JSON())
		}
		if meta, told := oauthclient.Told(kept); string(meta.JSON()) != c.meta || told != c.draft.Name {
			t.Errorf("%s: told %s, %q", name, meta.JSON(), told)
		}
	}
	if meta, name := oauthclient.Told(nil); string(meta.JSON()) != `{}` || name != "" {
		t.Error("of nothing:", string(meta.JSON()), name)
	}
}

// FuzzCheck: any URL is at most refused, and accepted ones are absolute.
func FuzzCheck(f *testing.F) {
	f.Add("https://a.example/cb;com.example:/x", ";")
	f.Fuzz(func(t *testing.T, redirects, separator string) {
		if (oauthclient.Draft{RedirectURI: redirects}).Check(separator) != nil {
			return
		}
		list := oauthclient.Redirects(redirects, separator)
		if slices.ContainsFunc(list, func(a string) bool { return !strings.Contains(a, ":") || strings.Contains(a, "#") }) {
			t.Errorf("%q", list)
		}
	})
}
