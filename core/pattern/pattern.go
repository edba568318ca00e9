// Package pattern reads regular expressions of clients without compiling them. Repetitions are
// written out when an expression is compiled, so that 20 kB of a{1000} take 300 MB. What only
// asks whether gateways can compile an expression has no use for that.
package pattern

import (
	"errors"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxCost is how much expressions may cost together. A unit of cost takes about a tenth of a
// microsecond to read.
const MaxCost = 1_000_000

// ErrLarge says that an expression has too many classes of characters to be read.
var ErrLarge = errors.New("the regular expression has too many classes of characters")

// Check says what is wrong with an expression, and how many capture groups it has.
func Check(text string) (groups int, err error) {
	if Cost(text) > MaxCost {
		return 0, ErrLarge
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return re.MaxCap(), nil
}

// Size estimates how many steps an expression has when it is compiled, for those who do compile
// it. An expression without repetitions has about as many as characters.
func Size(text string) (int, error) {
	if Cost(text) > MaxCost {
		return 0, ErrLarge
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return size(re), nil
}

func size(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += size(sub)
	}
	if re.Op == syntax.OpRepeat { // the parser bounds repetitions in repetitions
		n *= max(re.Min+1, re.Max)
	}
	return n
}

// classCost is the cost of a class such as \p{L}, which the parser writes out.
const classCost = 200

// Cost estimates what it takes to read an expression besides its length. Two things make much
// out of few characters: classes of Unicode, and ranges whose case is ignored, because the
// parser looks for the other case of each character.
func Cost(text string) int {
	n := classCost * (strings.Count(text, `\p`) + strings.Count(text, `\P`))
	if !strings.Contains(text, "(?") {
		return n
	}
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "-")
		if !found {
			return n
		}
		n += int(last(after)) / 6
		rest = after
	}
}

// last returns the last character of a range, whose end a text begins with; 0: it is none.
func last(text string) rune {
	var hex string
	switch {
	case strings.HasPrefix(text, `\x{`):
		hex, _, _ = strings.Cut(text[3:min(len(text), 16)], "}")
	case strings.HasPrefix(text, `\x`):
		hex = text[2:min(len(text), 4)]
	case strings.HasPrefix(text, `\u`): // as ECMAScript spells it
		hex = text[2:min(len(text), 6)]
	default:
		r, _ := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError {
			return 0
		}
		return r
	}
	r, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || r > utf8.MaxRune {
		return 0 // no range that the parser takes
	}
	return rune(r)
}
