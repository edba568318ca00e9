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

// Bounds of the texts that are drawn. Marks and tables can take time and room that grow
// with the square of the text.
const (
	maxMarkdown = 32 << 10 // bytes; what comes after them is shown as it is
	maxMarks    = 6_000    // characters that may begin or end something; with more of them, all is shown as it is
	maxCells    = 20_000   // of tables, if every line had as many as the widest; likewise
)

// marks are the characters that may begin or end something within a text.
const marks = "*_~`[]()<>!&\\@:-+#"

var (
	markdown = goldmark.New(goldmark.WithExtensions(extension.GFM))
	// mixed keeps HTML in Markdown, for the policy to judge.
	mixed = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
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

// safeMarkdown draws Markdown, as far as that takes little time. HTML in it is left out, but
// for what the policy allows of that of admins.
func safeMarkdown(value any) template.HTML {
	if value == nil {
		return ""
	}
	text, rest := fmt.Sprint(value), ""
	if len(text) > maxMarkdown {
		end := strings.LastIndexAny(text[:maxMarkdown], " \n") + 1 // no character is torn
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

// plain shows a text as it is.
func plain(text string) template.HTML {
	return template.HTML(template.HTMLEscapeString(text)) //nolint:gosec // escaped
}

// tangled reports whether a text may take long to draw.
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
