package apptest

import (
	"fmt"
	"strings"
)

// Guide is the blocks of a document that are marked sh, as one script. A line "# →
// text" in them promises the output of the commands since the last promise.
type Guide struct {
	Script   string // prints a mark at each promise
	Promises []string
}

// ReadGuide reads a document in Markdown.
func ReadGuide(text string) (g Guide) {
	var script strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		promise, promises := strings.CutPrefix(trimmed, "# → ")
		switch {
		case strings.HasPrefix(trimmed, "```"):
			inside = !inside && trimmed == "```sh"
		case inside && promises:
			fmt.Fprintf(&script, "printf '%%s' '%s'\n", mark(len(g.Promises)))
			g.Promises = append(g.Promises, promise)
		case inside:
			script.WriteString(line)
		}
	}
	g.Script = script.String()
	return g
}

func mark(i int) string { return fmt.Sprintf("<promise %d>", i) }

// Broken returns the promises that an output of the script does not keep.
func (g Guide) Broken(output string) (out []string) {
	for i, want := range g.Promises {
		have, rest, _ := strings.Cut(output, mark(i))
		if output = rest; !Matches(have, want) {
			out = append(out, fmt.Sprintf("the guide promises\n%s\nand there comes\n%s", want, have))
		}
	}
	return out
}

// Matches reports whether text contains the parts of a pattern, separated by "…", in
// order.
func Matches(text, pattern string) bool {
	for part := range strings.SplitSeq(pattern, "…") {
		_, after, ok := strings.Cut(text, strings.TrimSpace(part))
		if !ok {
			return false
		}
		text = after
	}
	return true
}
