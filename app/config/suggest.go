package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// warnUnknown warns of unknown names, and suggests the known name that was probably
// meant. Unknown environment variables with fieldPrefix are ignored, because other
// programs use that prefix as well.
func (l *loader) warnUnknown(fileName string) {
	var names, variables []string
	for i := range l.names.rows {
		row := &l.names.rows[i]
		names = append(names, row.name)
		if row.suffix != "" {
			variables = append(variables, l.names.prefixes[0]+row.suffix)
		}
	}
	if len(l.unknownNames) > 0 {
		l.warn("unknown settings in %s: %s", fileName, withSuggestions(l.unknownNames, names))
	}
	if len(l.unknownVariables) > 0 {
		l.warn("unknown environment variables: %s", withSuggestions(l.unknownVariables, variables))
	}
}

func withSuggestions(unknown map[string]bool, known []string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		item := name // quoted and shortened, so that a name of the file does not break or flood the line
		if len(name) > longest {
			item = strings.ToValidUTF8(name[:longest], "") + "…"
		}
		if q := strconv.Quote(item); q != `"`+item+`"` {
			item = q
		}
		if meant := closest(name, known); meant != "" {
			item += " (did you mean " + meant + "?)"
		}
		out = append(out, item)
	}
	return strings.Join(out, ", ")
}

// longest is the length in bytes up to which an unknown name is shown completely and
// compared with known names; no known name is longer.
const longest = 80

// closest returns the known name that differs from the given one by one or two typing
// errors, three in a long name; "" if there is none.
func closest(name string, known []string) (meant string) {
	if len(name) > longest {
		return ""
	}
	best := min(max(len(name)/4, 1), 3) + 1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < best {
			best, meant = d, k
		}
	}
	return meant
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
