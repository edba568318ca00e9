// Package password checks passwords, and computes how long users may keep them
// (docs/wire/authentication.md#passwords).
package password

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of passwords and of policies.
const (
	Shortest     = 6    // characters, without a policy
	Longest      = 1024 // bytes: hashing a longer one costs more than it protects
	MostRequired = 128  // of any requirement of a policy
	MostKept     = 24   // earlier passwords that can be refused: each needs a slow check
)

// Policy is the requirements for a password. The zero Policy requires six characters.
type Policy struct {
	MinLength         int  `json:"minLength"`
	MultiCase         bool `json:"multiCase"` // both upper and lower case
	MinNumeric        int  `json:"minNumeric"`
	MinSpecial        int  `json:"minSpecial"`        // neither letters nor digits
	DisableSequential bool `json:"disableSequential"` // no three consecutive characters such as 123 and cba
}

// Parse parses a policy from the text of its file. Unknown members are ignored: existing files
// have a title and a type.
func Parse(text []byte) (p Policy, err error) {
	if err := json.Unmarshal(text, &p); err != nil {
		if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && t.Field != "" {
			return p, fmt.Errorf("%s must not be a %s", t.Field, t.Value)
		}
		return p, err
	}
	for _, v := range []struct {
		name string
		n    int
	}{{"minLength", p.MinLength}, {"minNumeric", p.MinNumeric}, {"minSpecial", p.MinSpecial}} {
		if v.n < 0 || v.n > MostRequired {
			return p, fmt.Errorf("%s must be 0 to %d", v.name, MostRequired)
		}
	}
	return p, nil
}

// Lacks returns the first requirement that a password does not meet, or "".
func (p Policy) Lacks(password string) string {
	if all := p.LacksAll(password); len(all) > 0 {
		return all[0]
	}
	return ""
}

// LacksAll returns all requirements that a password does not meet.
func (p Policy) LacksAll(password string) (lacks []string) {
	shortest := p.MinLength
	if shortest == 0 {
		shortest = Shortest
	}
	if len(password) > Longest {
		return []string{fmt.Sprintf("at most %d bytes", Longest)}
	}
	upper, lower, digits, special, sequential := 0, 0, 0, 0, false
	var before, last rune
	for _, r := range password {
		switch {
		case unicode.IsUpper(r):
			upper++
		case unicode.IsLower(r):
			lower++
		case unicode.IsDigit(r):
			digits++
		case !unicode.IsLetter(r):
			special++
		}
		r = unicode.ToLower(r)
		step := r - last
		if follows := step == 1 || step == -1; follows && last-before == step && alike(before) && alike(last) && alike(r) {
			sequential = true
		}
		before, last = last, r
	}
	for _, rule := range []struct {
		broken bool
		what   string
	}{
		{utf8.RuneCountInString(password) < shortest, fmt.Sprintf("at least %d characters", shortest)},
		{p.MultiCase && (upper == 0 || lower == 0), "both upper and lower case letters"},
		{digits < p.MinNumeric, fmt.Sprintf("%d or more digits", p.MinNumeric)},
		{special < p.MinSpecial, fmt.Sprintf("%d or more characters that are neither letters nor digits", p.MinSpecial)},
		{p.DisableSequential && sequential, "no sequences such as 123 or abc"},
	} {
		if rule.broken {
			lacks = append(lacks, rule.what)
		}
	}
	return lacks
}

// alike reports whether people count on with a character: signs that stand side by
// side in a table of codes are no sequence to them.
func alike(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Expired reports whether a password that was set at a time is too old. days is how long it
// may be kept; 0: for ever.
func Expired(set time.Time, days int, now time.Time) bool {
	return days > 0 && !set.IsZero() && !now.Before(set.AddDate(0, 0, days))
}

// Days returns how many days a user may keep a password: the user's own value, otherwise the
// lowest of the groups, otherwise everybody, the value for all users; 0: for ever.
func Days(own int, groups []int, everybody int) int {
	if own > 0 {
		return own
	}
	strictest := 0
	for _, d := range groups {
		if d > 0 && (strictest == 0 || d < strictest) {
			strictest = d
		}
	}
	if strictest > 0 {
		return strictest
	}
	return everybody
}

// Kept returns the hashes to keep when current is replaced, newest first, so that together
// with the new one there are n to refuse.
func Kept(current string, earlier []string, n int) []string {
	if n <= 1 || current == "" && len(earlier) == 0 {
		return nil
	}
	all := earlier
	if current != "" {
		all = append([]string{current}, earlier...)
	}
	return all[:min(len(all), n-1, MostKept-1)]
}
