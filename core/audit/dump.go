package audit

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/redact"
)

// Limits of dumps.
const (
	maxRequestDump  = 4 << 10
	maxResponseDump = 16 << 10
	maxDumpedBody   = 64 << 10 // bytes of a body that is parsed and shown
	maxHeaders      = 64       // of one message
)

// Message is an HTTP message for a dump.
type Message struct {
	Start  string // the first line
	Header map[string][]string
	Body   [][]byte // in pieces; of a request it is not shown
	Brief  bool     // only the length of the body is shown
}

// open are headers with values that dumps show; of other headers only the names are shown.
var open = []string{
	"accept", "acceptencoding", "acceptlanguage", "allow", "cachecontrol", "connection", "contentdisposition", "contentencoding", "contentlanguage",
	"contentlength", "contenttype", "date", "etag", "host", "ifmatch", "ifnonematch", "origin", "pragma", "referrerpolicy", "retryafter",
	"useragent", "vary", "xcontenttypeoptions", "xforwardedproto", "xrequestid", "xtotalcount",
}

// DumpRequest returns a request without its body, and without secrets
// (docs/wire/audit.md#dumps).
func DumpRequest(m Message) string {
	var b strings.Builder
	m.head(&b)
	return Bounded(b.String(), maxRequestDump)
}

// DumpResponse returns a response without secrets. It hides the members with the names in
// secrets, in addition to those that package redact knows.
func DumpResponse(m Message, secrets []string) string {
	var b strings.Builder
	m.head(&b)
	b.WriteString("\r\n")
	size := 0
	for _, piece := range m.Body {
		size += len(piece)
	}
	text, shown := "", false // only the length is shown of a body that is not JSON or is too long to parse
	if size > 0 && !m.Brief && size <= maxDumpedBody {
		masked, _, err := Mask(bytes.Join(m.Body, nil), secrets)
		if err == nil {
			// Responses contain some texts that look like keys under harmless names.
			if n, err := doc.ParseNode(masked); err == nil {
				text, shown = string(sealed(n).JSON()), true
			}
		}
	}
	switch {
	case shown:
		b.WriteString(text)
	case size > 0:
		fmt.Fprintf(&b, "(%d bytes)", size)
	}
	return Bounded(b.String(), maxResponseDump)
}

// head writes the first line and the headers, sorted by name.
func (m Message) head(b *strings.Builder) {
	writeLine(b, m.Start)
	for i, name := range slices.Sorted(maps.Keys(m.Header)) {
		if i == maxHeaders {
			writeLine(b, "…")
			return
		}
		for _, value := range m.Header[name][:min(len(m.Header[name]), maxHeaders)] {
			switch folded := redact.Fold(name); {
			case folded == "location" || folded == "referer":
				value, _, _ = strings.Cut(redact.Text(value), "?") // the query may contain a credential
			case !slices.Contains(open, folded):
				value = redact.Hidden
			}
			writeLine(b, name+": "+value)
		}
	}
}

// writeLine writes a line; text cannot end it.
func writeLine(b *strings.Builder, text string) {
	b.WriteString(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text))
	b.WriteString("\r\n")
}

func sealed(n *doc.Node) *doc.Node {
	switch n.Type() {
	case doc.TypeObject:
		out := doc.NewObject()
		for name, v := range n.Members() {
			if redact.Opaque(name) {
				name = redact.Hidden
			}
			out.Set(name, sealed(v))
		}
		return out
	case doc.TypeArray:
		out := doc.NewArray()
		for _, v := range n.Items() {
			out.Append(sealed(v))
		}
		return out
	case doc.TypeString:
		words := strings.Split(n.Text(), " ")
		for i, word := range words {
			if redact.Opaque(word) {
				words[i] = redact.Hidden
			}
		}
		return doc.NewString(strings.Join(words, " "))
	}
	return n
}
