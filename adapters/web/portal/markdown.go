package portal

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// maxMarkdown bounds the texts that are drawn; longer ones are shown as they are.
const maxMarkdown = 1 << 20

var (
	markdown = goldmark.New(goldmark.WithExtensions(extension.GFM))
	// policy is what HTML of others may hold: text, links and pictures.
	policy = sync.OnceValue(func() *bluemonday.Policy {
		p := bluemonday.UGCPolicy()
		p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[a-zA-Z0-9_+-]+$`)).OnElements("code")
		p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
		p.AllowAttrs("checked", "disabled").OnElements("input")
		return p
	})
)

func sanitised(text string) template.HTML {
	return template.HTML(policy().Sanitize(text)) //nolint:gosec // sanitised
}

// safeMarkdown draws Markdown. HTML in it is left out.
func safeMarkdown(value any) template.HTML {
	if value == nil {
		return ""
	}
	text, out := fmt.Sprint(value), bytes.Buffer{}
	if len(text) > maxMarkdown || markdown.Convert([]byte(text), &out) != nil {
		return template.HTML(template.HTMLEscapeString(text)) //nolint:gosec // escaped
	}
	return sanitised(out.String())
}
