package portal

import (
	"strings"
	"testing"
)

// TestProofsInForms inserts the token into forms that post to this host and lack it.
func TestProofsInForms(t *testing.T) {
	const field = `<input type="hidden" name="csrf_token" value="a&lt;b">`
	for page, want := range map[string]string{
		"":                           "",
		"<p>no form":                 "<p>no form",
		"<form method=post>x</form>": "<form method=post>" + field + "x</form>",
		`<FORM a="<form>" METHOD = ' Post ' action='edit'><b>x</FORM>`:                  `<FORM a="<form>" METHOD = ' Post ' action='edit'>` + field + `<b>x</FORM>`,
		`<form method="post" action="/a?b#c"><p>`:                                       `<form method="post" action="/a?b#c">` + field + `<p>`,
		`<form method="post" action="https://here:1/a">`:                                `<form method="post" action="https://here:1/a">` + field,
		`<form method="post" action="//here:1/a">`:                                      `<form method="post" action="//here:1/a">` + field,
		`<form method="post"><form method="post" action="/b">`:                          `<form method="post">` + field + `<form method="post" action="/b">` + field,
		`<noscript><form method="post"></form></noscript>`:                              `<noscript><form method="post">` + field + `</form></noscript>`,
		`<form method="post"></form><input name="csrf_token">`:                          `<form method="post">` + field + `</form><input name="csrf_token">`,
		`<form method="post"><input type=hidden name=csrf_token value=x></form>`:        "",
		`<form method="post"><p><input name="a"/><input name="csrf&#95;token"/></form>`: "",
		`<form>`: "", `<form method="get" action="/a">`: "", `<form method="dialog">`: "",
		`<form method="get" method="post">`:                  "",
		`<form method="post" action="https://evil.example">`: "", `<form method="post" action="//evil.example">`: "", `<form method="post" action="/\evil.example">`: "", "<form method=\"post\" action=\"/\t/evil.example\">": "",
		`<form method="post" action="javascript:x">`: "", `<form method="post" action="ftp://here:1/">`: "", `<form method="post" action="http://%zz">`: "",
		`<!-- <form method="post"> --><script>"<form method='post'>"</script><textarea><form method="post"></textarea><style><form method="post"></style>`: "",
		`<form method="post"`: "", `<form method="post`: "", "a < b <": "", `<form method="post"><input name="csrf_token"`: `<form method="post">` + field + `<input name="csrf_token"`,
	} {
		if want == "" {
			want = page
		}
		if got := string(withProofs([]byte(page), "here:1", func() string { return "a<b" })); got != want {
			t.Errorf("%s\n became %s\nand not %s", page, got, want)
		}
	}
	withProofs([]byte("<p><form>"), "here", func() string { t.Error("a page without forms asks for a token"); return "" })
	many := strings.Repeat("<form method=post>", 1000)
	if got := withProofs([]byte(many), "here", func() string { return "" }); strings.Count(string(got), "<input") != 1000 {
		t.Error("of many forms some have no field")
	}
}
