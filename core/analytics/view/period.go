// Package view knows what is asked about traffic, and what answers look like
// (docs/wire/analytics.md).
package view

import (
	"strconv"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Codes of the faults of questions about traffic.
const (
	CodePeriod = "analytics.period"
	CodeFilter = "analytics.filter"
	CodeMany   = "analytics.too_many"
)

// MaxDays bounds what one question looks through, and MaxRecordDays what one looks through
// that counters cannot answer.
const (
	MaxDays       = 1830
	MaxRecordDays = 31
)

// Dates is six parts of a path: first day, month and year, last day, month and year.
type Dates [6]string

var parts = [...]string{"startDay", "startMonth", "startYear", "EndDay", "EndMonth", "EndYear"}

// Period is a span of time: from one moment up to another.
type Period struct {
	From, To time.Time
	zone     *time.Location
}

// In returns the period of the days in a time zone; the last day is part of it.
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
	to, _ := day(n[5], n[4], n[3]+1, zone) // the day after the last one of a month is one, too
	p := Period{From: from, To: to, zone: zone}
	if p.Days() > MaxDays {
		return Period{}, fault.New(fault.Invalid, CodePeriod, "at most %d days can be asked for at once", MaxDays).At("EndDay")
	}
	return p, nil
}

// Span returns the period between two moments, in Unix seconds, the last one included.
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
		return Period{}, fault.New(fault.Invalid, CodePeriod, "at most %d days can be asked for at once", MaxDays).At("end")
	}
	return p, nil
}

// latest is the last second of the year 9999.
const latest = 253402300799

// Days returns how many days the period has, begun ones included. It counts seconds: no
// time.Duration holds more than 292 years.
func (p Period) Days() int { return int((p.To.Unix() - p.From.Unix() + 23*3600) / (24 * 3600)) }

// Date returns the day in which a moment is.
func (p Period) Date(t time.Time) string { return t.In(p.zone).Format(time.DateOnly) }

// Before returns the days of the period that end before the one in which a moment is.
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

// plain reads a number of up to four digits and nothing else.
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

// day returns when a day begins, or false when there is none. Clocks may be put forward or
// back at midnight: the day begins at its first moment.
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

// Step says by how many seconds clocks are ahead of UTC from a moment on.
type Step struct{ From, Ahead int64 }

// Steps returns how clocks of the period's zone are put in it, in order; the first one also
// holds before its moment.
func (p Period) Steps() []Step {
	var out []Step
	for at := p.From; ; {
		_, ahead := at.In(p.zone).Zone()
		if len(out) == 0 || out[len(out)-1].Ahead != int64(ahead) {
			out = append(out, Step{at.Unix(), int64(ahead)})
		}
		_, next := at.In(p.zone).ZoneBounds()
		if !next.IsZero() && !next.After(at) { // package time ends leap years after 2037 a day early, also for that day itself
			next = at.AddDate(0, 0, 1)
		}
		if next.IsZero() || !next.Before(p.To) {
			return out
		}
		at = next
	}
}

// Resolution is how finely answers are split by time.
type Resolution string

// The resolutions.
const (
	Whole Resolution = "" // the period as one
	Hour  Resolution = "hour"
	Day   Resolution = "day"
	Month Resolution = "month"
)

// ParseResolution reads the parameter res.
func ParseResolution(text string, preset Resolution) (Resolution, error) {
	switch r := Resolution(text); r {
	case Whole:
		return preset, nil
	case Hour, Day, Month:
		return r, nil
	}
	return "", fault.New(fault.Invalid, CodeFilter, "query parameter res must be hour, day or month").At("res")
}
