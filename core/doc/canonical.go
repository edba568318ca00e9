package doc

import (
	"slices"
	"strconv"
	"strings"
)

// Canonical returns a text that is the same for two values if and only if they are Equal: a
// map key for values. It is empty for a nil node.
func (n *Node) Canonical() string { return string(n.canonical(nil)) }

func (n *Node) canonical(b []byte) []byte {
	if n == nil {
		return b
	}
	switch n.Type() {
	case TypeObject:
		order := make([]int, len(n.names))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return strings.Compare(n.names[i], n.names[j]) })
		b = append(b, '{')
		for _, i := range order {
			b = n.nodes[i].canonical(append(AppendString(b, n.names[i]), ':'))
			b = append(b, ',')
		}
		return append(b, '}')
	case TypeArray:
		b = append(b, '[')
		for _, v := range n.nodes {
			b = append(v.canonical(b), ',')
		}
		return append(b, ']')
	case TypeString:
		return AppendString(b, n.Text())
	case TypeNumber:
		return append(b, canonicalNumber(n.text)...)
	}
	return append(b, n.text...)
}

// canonicalNumber returns the same text for all spellings of a number: a whole number without
// trailing zeros, and its power of ten. Numbers beyond the range of doubles, and exponents of
// a thousand million and more, stay as they are spelled. The time is linear in the length of
// the text, because a number may fill a whole body.
func canonicalNumber(text []byte) string {
	if _, err := strconv.ParseFloat(string(text), 64); err != nil {
		return string(text)
	}
	digits, power, _ := strings.Cut(strings.ToLower(string(text)), "e")
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0"
	}
	e, err := strconv.ParseInt(power, 10, 32)
	if power != "" && err != nil {
		return string(text)
	}
	return sign + short + "e" + strconv.FormatInt(e+int64(len(digits)-len(short)-len(fraction)), 10)
}
