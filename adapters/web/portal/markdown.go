package portal

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// Bounds of the Markdown that is rendered. Special characters and tables can take time and
// memory that grow with the square of the text.
const (
	maxMarkdown = 32 << 10 // bytes; the rest is shown as plain text
	maxMarks    = 6_000    // characters that may begin or end something; a text with more is shown as plain text
	maxCells    = 20_000   // table cells, if every line had as many as the widest; a text with more is shown as plain text
)

// marks are the characters that may begin or end inline markup.
const marks = "*_~`[]()<>!&\\@:-+#"

var (
	markdown = goldmark.New(goldmark.WithExtensions(extension.GFM))
	// mixed keeps HTML in Markdown, for the sanitising policy.
	mixed = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	// policy allows text, links and pictures in HTML of users.
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

// safeMarkdown renders Markdown if that takes little time. HTML in it is removed, except
// what the policy allows in texts by admins.
func safeMarkdown(value any) template.HTML {
	if value == nil {
		return ""
	}
	text, rest := fmt.Sprint(value), ""
	if len(text) > maxMarkdown {
		end := strings.LastIndexAny(text[:maxMarkdown], " \n") + 1 // do not cut a character in two
		text, rest = text[:end], text[end:]
	}
	draws := markdown
	if _, ok := value.(written); ok {
		draws = mixed
	}
	out := bytes.Buffer{}
	if tangled(text) || draws.Convert([]byte(text), &out) != nil {
		return plain(text + rest)
	}
	return sanitised(out.String()) + plain(rest)
}

// plain returns a text as escaped HTML.
func plain(text string) template.HTML {
	return template.HTML(template.HTMLEscapeString(text)) //nolint:gosec // escaped
}

// tangled reports whether a text may take long to render.
func tangled(text string) bool {
	n, lines, widest := 0, 0, 0
	for line := range strings.Lines(text) {
		lines++
		widest = max(widest, strings.Count(line, "|"))
		for i := range len(line) {
			if strings.IndexByte(marks, line[i]) >= 0 {
				n++
			}
		}
	}
	return n > maxMarks || widest*lines > maxCells
}
