// Package pattern parses regular expressions of clients without compiling them. The compiler
// expands repetitions, so 20 kB of a{1000} take 300 MB. Checking whether gateways can compile
// an expression does not need this.
package pattern

import (
	"errors"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxCost is the maximum total cost of expressions. Parsing takes about a tenth of a
// microsecond per unit of cost.
const MaxCost = 1_000_000

// ErrLarge says that parsing an expression is too expensive because of its character classes.
var ErrLarge = errors.New("the regular expression has too many classes of characters")

// Check returns the error of an expression, and the number of its capture groups.
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

// Size estimates the number of steps of the compiled expression, for callers that compile it.
// Without repetitions, it is about the number of characters.
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
	if re.Op == syntax.OpRepeat { // the parser limits nested repetitions
		n *= max(re.Min+1, re.Max)
	}
	return n
}

// classCost is the cost of a class such as \p{L}, which the parser expands.
const classCost = 200

// Cost estimates the cost of parsing an expression besides its length. Two constructs are
// expensive in few characters: Unicode classes, and ranges that ignore case, because the
// parser looks up the other case of each character.
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

// last returns the last character of a range, which is at the beginning of text; 0: there is
// none.
func last(text string) rune {
	var hex string
	switch {
	case strings.HasPrefix(text, `\x{`):
		hex, _, _ = strings.Cut(text[3:min(len(text), 16)], "}")
	case strings.HasPrefix(text, `\x`):
		hex = text[2:min(len(text), 4)]
	case strings.HasPrefix(text, `\u`): // the ECMAScript escape
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
		return 0 // the parser rejects this range
	}
	return rune(r)
}
