// Package view holds the queries about traffic and the forms of their results
// (docs/wire/analytics.md).
package view

import (
	"strconv"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Codes of the faults of queries about traffic.
const (
	CodePeriod = "analytics.period"
	CodeFilter = "analytics.filter"
	CodeMany   = "analytics.too_many"
)

// MaxDays is the longest period of a query, and MaxRecordDays that of a query that counters
// cannot answer.
const (
	MaxDays       = 1830
	MaxRecordDays = 31
)

// Dates is six parts of a path: first day, month and year, last day, month and year.
type Dates [6]string

var parts = [...]string{"startDay", "startMonth", "startYear", "EndDay", "EndMonth", "EndYear"}

// Period is a span of time; To is not part of it.
type Period struct {
	From, To time.Time
	zone     *time.Location
}

// In returns the period of these days in a time zone; the last day is included.
func (d Dates) In(zone *time.Location) (Period, error) {
	var n [6]int
	for i, text := range d {
		var ok bool
		if n[i], ok = plain(text); !ok {
			return Period{}, fault.New(fault.Invalid, CodePeriod, "%s must be a plain number", parts[i]).At(parts[i])
		}
	}
	from, ok := day(n[2], n[1], n[0], zone)
	if !ok {
		return Period{}, fault.New(fault.Invalid, CodePeriod, "there is no day %s/%s/%s", d[0], d[1], d[2]).At("startDay")
	}
	last, ok := day(n[5], n[4], n[3], zone)
	if !ok {
		return Period{}, fault.New(fault.Invalid, CodePeriod, "there is no day %s/%s/%s", d[3], d[4], d[5]).At("EndDay")
	}
	if last.Before(from) {
		return Period{}, fault.New(fault.Invalid, CodePeriod, "the end must not be before the start").At("EndDay")
	}
	to, _ := day(n[5], n[4], n[3]+1, zone) // a day after the last one of a month is valid too
	p := Period{From: from, To: to, zone: zone}
	if p.Days() > MaxDays {
		return Period{}, fault.New(fault.Invalid, CodePeriod, "a period has %d days at most", MaxDays).At("EndDay")
	}
	return p, nil
}

// Span returns the period between two times in Unix seconds; the last one is included.
func Span(start, end string) (Period, error) {
	from, err := strconv.ParseInt(start, 10, 64)
	if err != nil || from < 0 || from > latest {
		return Period{}, fault.New(fault.Invalid, CodePeriod, "query parameter start must be a time in Unix seconds").At("start")
	}
	to, err := strconv.ParseInt(end, 10, 64)
	if err != nil || to < from || to > latest {
		return Period{}, fault.New(fault.Invalid, CodePeriod, "query parameter end must be a time in Unix seconds, not before start").At("end")
	}
	p := Period{From: time.Unix(from, 0).UTC(), To: time.Unix(to+1, 0).UTC(), zone: time.UTC}
	if p.Days() > MaxDays {
		return Period{}, fault.New(fault.Invalid, CodePeriod, "a period has %d days at most", MaxDays).At("end")
	}
	return p, nil
}

// latest is the last second of the year 9999.
const latest = 253402300799

// Days returns the number of days of the period, rounded up. It counts seconds, because a
// time.Duration holds at most 292 years.
func (p Period) Days() int { return int((p.To.Unix() - p.From.Unix() + 23*3600) / (24 * 3600)) }

// Date returns the date of a time in the zone of the period.
func (p Period) Date(t time.Time) string { return t.In(p.zone).Format(time.DateOnly) }

// Before returns the part of the period before the day of t.
func (p Period) Before(t time.Time) Period {
	t = t.In(p.zone)
	begin, _ := day(t.Year(), int(t.Month()), t.Day(), p.zone)
	if begin.Before(p.To) {
		p.To = begin
	}
	if p.To.Before(p.From) {
		p.To = p.From
	}
	return p
}

// plain parses a number of up to four digits without other characters.
func plain(text string) (n int, ok bool) {
	if text == "" || len(text) > 4 {
		return 0, false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// day returns the beginning of a day; false: there is no such day. Clocks may change at
// midnight: the day begins at its first moment.
func day(year, month, d int, zone *time.Location) (time.Time, bool) {
	noon := time.Date(year, time.Month(month), d, 12, 0, 0, 0, zone)
	exists := year >= 1970 && month >= 1 && month <= 12 && noon.Day() == d && noon.Month() == time.Month(month)
	begin := noon.Add(-12 * time.Hour)
	changed, _ := noon.ZoneBounds()
	if changed.IsZero() || changed.Before(begin) {
		return begin, exists
	}
	_, after := noon.Zone()
	_, before := changed.Add(-time.Second).Zone()
	if earlier := begin.Add(time.Duration(after-before) * time.Second); earlier.Before(changed) {
		return earlier, exists
	}
	return changed, exists
}

// Step is the offset of clocks from UTC, in seconds, from a Unix time on.
type Step struct{ From, Ahead int64 }

// Steps returns the UTC offsets of the zone in the period, in order. The first one also holds
// before its time.
func (p Period) Steps() []Step {
	var out []Step
	for at := p.From; ; {
		_, ahead := at.In(p.zone).Zone()
		if len(out) == 0 || out[len(out)-1].Ahead != int64(ahead) {
			out = append(out, Step{at.Unix(), int64(ahead)})
		}
		_, next := at.In(p.zone).ZoneBounds()
		if !next.IsZero() && !next.After(at) { // package time ends leap years after 2037 a day early, even on that day itself
			next = at.AddDate(0, 0, 1)
		}
		if next.IsZero() || !next.Before(p.To) {
			return out
		}
		at = next
	}
}

// Resolution is the length of the time spans into which results are split.
type Resolution string

// The resolutions.
const (
	Whole Resolution = "" // the whole period
	Hour  Resolution = "hour"
	Day   Resolution = "day"
	Month Resolution = "month"
)

// ParseResolution parses the parameter res.
func ParseResolution(text string, preset Resolution) (Resolution, error) {
	switch r := Resolution(text); r {
	case Whole:
		return preset, nil
	case Hour, Day, Month:
		return r, nil
	}
	return "", fault.New(fault.Invalid, CodeFilter, "query parameter res must be hour, day or month").At("res")
}
