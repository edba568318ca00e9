package oas

import (
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// extract converts the values of ext, which may be absent, and writes them into classic.
func (s *section) extract(ext, classic *doc.Node) {
	for i := range s.leaves {
		l := &s.leaves[i]
		put := assign
		if l.omitted {
			put = assignOrDrop
		}
		put(classic, l.toClassic(ext.Get(l.ext...)), l.classic...)
	}
	for _, l := range s.lists {
		l.extract(ext, classic)
	}
	if s.hook.extract != nil {
		s.hook.extract(ext, classic)
	}
}

func (l *leaf) toClassic(n *doc.Node) *doc.Node {
	switch l.rule {
	case not:
		return doc.NewBool(!n.True())
	case durS:
		return doc.NewInt(int64(ParseDuration(n.Text()) / time.Second))
	case durNS:
		return doc.NewInt(int64(ParseDuration(n.Text())))
	case tls:
		minor, ok := strings.CutPrefix(n.Text(), "1.")
		if !ok || len(minor) != 1 || minor[0] < '0' || minor[0] > '3' {
			return doc.NewInt(0)
		}
		return doc.NewInt(firstTLS + int64(minor[0]-'0'))
	}
	return read(n, l.kind)
}

// fill converts the values of classic and writes them into ext. Empty blocks remain; see
// layout.compact.
func (s *section) fill(ext, classic *doc.Node) {
	for i := range s.leaves {
		l := &s.leaves[i]
		v := l.toExtension(classic.Get(l.classic...))
		if l.empty == may && isEmpty(v, l.kind) {
			ext.Delete(l.ext...)
			continue
		}
		assign(ext, v, l.ext...)
	}
	for _, l := range s.lists {
		l.fill(ext, classic)
	}
	if s.hook.fill != nil {
		s.hook.fill(ext, classic)
	}
}

func (l *leaf) toExtension(n *doc.Node) *doc.Node {
	switch l.rule {
	case not:
		return doc.NewBool(!n.True())
	case durS:
		return durationText(seconds(cut(n.Float())))
	case durNS:
		return durationText(time.Duration(readWhole(n).Int()))
	case tls:
		if n.Int() < firstTLS || n.Int() > firstTLS+3 {
			return doc.NewString("")
		}
		return doc.NewString("1." + string(rune('0'+n.Int()-firstTLS)))
	}
	return read(n, l.kind)
}

func durationText(d time.Duration) *doc.Node { return doc.NewString(FormatDuration(d)) }

// firstTLS is the number of the TLS version "1.0"; the next versions follow.
const firstTLS = 0x0301
