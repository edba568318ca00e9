package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// part is the rows of one section.
type part struct {
	title string
	rows  []row
}

// row is one figure.
type row struct {
	id     string // key in explanations; "" for a row without an aim
	figure string
	value  string // "1,234"
	unit   string // "writes/s"
	ratios []ratio
	aim    *aim
	allocs float64 // per operation; 0: not counted
	note   string  // replaces the figure: why it is missing
}

// ratio compares a figure with another one of the same run.
type ratio struct {
	times float64
	of    string
}

// aim is the intended value of a figure.
type aim struct {
	measured float64
	bound    float64
	most     bool // the bound is a maximum rather than a minimum
	of       string
}

func atLeast(measured, bound float64, of string) *aim { return &aim{measured, bound, false, of} }
func atMost(measured, bound float64, of string) *aim  { return &aim{measured, bound, true, of} }

// met reports whether the aim is reached.
func (a aim) met() bool {
	if math.IsNaN(a.measured) {
		return false
	}
	if a.most {
		return a.measured <= a.bound
	}
	return a.measured >= a.bound
}

func (a aim) verdict() string {
	if a.met() {
		return "ok"
	}
	return "**below**"
}

// String formats the aim for the table: "≥ 0.9 × bare commit".
func (a aim) String() string {
	sign := "≥"
	if a.most {
		sign = "≤"
	}
	return sign + " " + strconv.FormatFloat(a.bound, 'f', -1, 64) + " " + a.of
}

// writeTable prints every part in one Markdown table.
func writeTable(w io.Writer, parts []part) {
	fmt.Fprintln(w, "| figure | value | unit | ratio | aim | verdict | allocs/op |")
	fmt.Fprintln(w, "|---|--:|---|---|---|---|--:|")
	for _, p := range parts {
		fmt.Fprintf(w, "| **%s** | | | | | | |\n", cell(p.title))
		for _, r := range p.rows {
			r.write(w)
		}
	}
}

func (r row) write(w io.Writer) {
	if r.note != "" {
		fmt.Fprintf(w, "| %s | | | %s | | | |\n", cell(r.figure), cell(r.note))
		return
	}
	var ratios []string
	for _, x := range r.ratios {
		ratios = append(ratios, significant(x.times)+" × "+x.of)
	}
	goal, verdict, allocs := "", "", ""
	if r.aim != nil {
		goal, verdict = r.aim.String(), r.aim.verdict()
	}
	if r.allocs > 0 {
		allocs = significant(r.allocs)
	}
	fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", cell(r.figure), r.value, r.unit, cell(strings.Join(ratios, ", ")), cell(goal), verdict, allocs)
}

// cell escapes a text for a cell.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", "").Replace(s)
}

// significant formats a number with as many digits as the measurement is precise.
func significant(x float64) string {
	switch abs := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "?"
	case abs >= 100:
		return grouped(int64(math.Round(x)))
	case abs >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case abs >= 0.1 || abs == 0:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

// grouped formats an integer with commas between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
