package oas

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// row is one line of the table: a member of the extension, its classic counterpart, the rule
// that converts between them, its type, and what a fill writes when it is empty. Objects and
// lists of objects have rows too; their rule is block.
//
// "[]" is a list element, ".*" any key of a map; " (key)" and " (value)" are the two sides of
// a map that the extension writes as a list of pairs. In classic paths "V" is the version
// named "" and a final "?" marks a member that the classic form leaves out when it is empty.
type row struct {
	ext, classic string
	rule         rule
	typ          typ
	empty        empty
}

// rule is the name of a conversion.
type rule string

const (
	block    rule = "block"
	same     rule = "copy"
	none     rule = "none"
	not      rule = "not"
	docOnly  rule = "doc-only"
	docKeep  rule = "doc-keep"
	pairs    rule = "pairs"
	comma    rule = "comma"
	durS     rule = "dur-s"
	durNS    rule = "dur-ns"
	durText  rule = "dur-text"
	intCut   rule = "int-cut"
	tls      rule = "tls"
	src      rule = "src"
	srcHead  rule = "src-header"
	fnName   rule = "fn-name"
	rewrite  rule = "rewrite-rules"
	template rule = "template"
	timeout  rule = "timeout"
	cache60  rule = "cache-60"
	mock     rule = "mock"
	validate rule = "validate"
	event    rule = "event"
	lb       rule = "lb"
	size     rule = "size"
	refresh  rule = "refresh"
	cert     rule = "cert"
	claims   rule = "claims"
	security rule = "security"
	schemes  rule = "scheme"
	lifetime rule = "lifetime"

	sdCache    rule = "sd-cache"
	uptimeOn   rule = "uptime-enabled"
	urlScheme  rule = "url-scheme"
	analytics  rule = "analytics"
	virtualSrc rule = "virtual-src"
)

// plain are the rules that a row expresses completely; the others concern several members at
// once and have a function each.
var plain = []rule{same, not, durS, durNS, durText, intCut, tls}

// empty says what the extension contains for an empty member. It is written only if its block
// has other content: a block with only empty members is left out.
type empty uint8

const (
	may       empty = iota // nothing
	must                   // the zero value, as soon as its block is written
	emptyList              // []
	null                   // null
	zeroBlock              // an object with the members that are always written
	kept                   // itself, even if empty
	content                // itself: its absence has another meaning
)

// section is a compiled part of the table: the common members of one object of the extension
// and one object of the classic form.
type section struct {
	leaves []leaf
	lists  []*sequence
	layout *layout
	hook   hook
}

// hook converts members of an object with rules that concern several of them. Each of its
// functions may be nil.
type hook struct {
	extract, fill func(ext, classic *doc.Node)
	skip          func(classic *doc.Node) bool // reports whether no item is made of it
}

type leaf struct {
	ext, classic []string
	rule         rule
	kind         kind
	empty        empty
	omitted      bool // left out of the classic form when empty
}

// sequence is a list of objects in the extension.
type sequence struct {
	ext, classic []string
	keyed        bool     // lists of the values of a map
	item         *section // nil for pairs
	key, value   string   // member names of pairs
	joined       bool     // the value of a pair is a list, which is one text in the classic form
	emptyMap     bool     // without pairs the map is empty instead of null
	empty        empty
}
