package view_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// TestDates tests every form of a period in a path, and every rule for zones.
func TestDates(t *testing.T) {
	for _, c := range []struct {
		dates, zone     string
		from, to, wrong string // RFC 3339 in UTC, or the invalid part
	}{
		{"1/1/2026/1/1/2026", "UTC", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", ""},
		{"01/01/2026/31/01/2026", "UTC", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", ""},
		{"28/2/2024/29/2/2024", "UTC", "2024-02-28T00:00:00Z", "2024-03-01T00:00:00Z", ""},
		{"31/12/2025/1/1/2026", "UTC", "2025-12-31T00:00:00Z", "2026-01-02T00:00:00Z", ""},
		{"1/1/1970/2/1/1970", "UTC", "1970-01-01T00:00:00Z", "1970-01-03T00:00:00Z", ""},
		{"1/1/2022/4/1/2027", "UTC", "2022-01-01T00:00:00Z", "2027-01-05T00:00:00Z", ""},
		// Zones, and days that are longer or shorter than others.
		{"1/1/2026/1/1/2026", "Europe/Berlin", "2025-12-31T23:00:00Z", "2026-01-01T23:00:00Z", ""},
		{"29/3/2026/29/3/2026", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", ""},
		{"25/10/2026/25/10/2026", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", ""},
		{"2/1/2026/2/1/2026", "Asia/Kolkata", "2026-01-01T18:30:00Z", "2026-01-02T18:30:00Z", ""},
		{"1/1/2026/1/1/2026", "Pacific/Kiritimati", "2025-12-31T10:00:00Z", "2026-01-01T10:00:00Z", ""},
		{"4/11/2018/4/11/2018", "America/Sao_Paulo", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z", ""}, // a day without midnight
		{"1/11/2015/1/11/2015", "America/Havana", "2015-11-01T04:00:00Z", "2015-11-02T05:00:00Z", ""},    // a day with two midnights
		{"17/2/2018/17/2/2018", "America/Sao_Paulo", "2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z", ""}, // the hour before midnight was repeated
		{"30/12/2011/31/12/2011", "Pacific/Apia", "", "", "startDay"},                                    // this day was skipped
		{"29/12/2011/31/12/2011", "Pacific/Apia", "2011-12-29T10:00:00Z", "2011-12-31T10:00:00Z", ""},
		// Invalid dates.
		{"31/2/2026/1/3/2026", "UTC", "", "", "startDay"}, {"29/2/2025/1/3/2025", "UTC", "", "", "startDay"}, {"1/1/2026/32/1/2026", "UTC", "", "", "EndDay"},
		{"0/1/2026/1/1/2026", "UTC", "", "", "startDay"}, {"1/0/2026/1/1/2026", "UTC", "", "", "startDay"}, {"1/13/2026/1/1/2027", "UTC", "", "", "startDay"},
		{"1/1/1969/1/1/1970", "UTC", "", "", "startDay"}, {"1/1/26/2/1/26", "UTC", "", "", "startDay"}, {"2/1/2026/1/1/2026", "UTC", "", "", "EndDay"},
		{"/1/2026/1/1/2026", "UTC", "", "", "startDay"}, {"1/x/2026/1/1/2026", "UTC", "", "", "startMonth"}, {"1/1/+2026/1/1/2026", "UTC", "", "", "startYear"},
		{"1/1/2026/-1/1/2026", "UTC", "", "", "EndDay"}, {"1/1/2026/1/1.0/2026", "UTC", "", "", "EndMonth"}, {"1/1/2026/1/1/20260", "UTC", "", "", "EndYear"},
		{"1/1/2026/1/١/2026", "UTC", "", "", "EndMonth"}, {"1/1/2022/5/1/2027", "UTC", "", "", "EndDay"}, {"1/1/2026/1/1/ 026", "UTC", "", "", "EndYear"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		p, err := view.Dates(strings.Split(c.dates, "/")).In(zone)
		from, to, wrong := "", "", ""
		if f, ok := err.(*fault.Error); ok { //nolint:errorlint // the fault itself
			wrong = f.Field
		} else {
			from, to = p.From.UTC().Format(time.RFC3339), p.To.UTC().Format(time.RFC3339)
		}
		if from != c.from || to != c.to || wrong != c.wrong {
			t.Errorf("%s in %s: %s to %s, wrong is %q; want %s to %s, %q", c.dates, c.zone, from, to, wrong, c.from, c.to, c.wrong)
		}
	}
}

// TestSteps tests the clock changes of a year.
func TestSteps(t *testing.T) {
	for zone, want := range map[string][]int64{"UTC": {0}, "Europe/Berlin": {3600, 7200, 3600}, "Asia/Kolkata": {19800}, "Australia/Lord_Howe": {39600, 37800, 39600}} {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		p, err := view.Dates{"1", "1", "2026", "31", "12", "2026"}.In(loc)
		if err != nil {
			t.Fatal(err)
		}
		steps := p.Steps()
		if len(steps) != len(want) {
			t.Fatalf("%s: %v", zone, steps)
		}
		for i, s := range steps {
			if _, ahead := time.Unix(s.From, 0).In(loc).Zone(); s.Ahead != want[i] || int64(ahead) != want[i] {
				t.Errorf("%s: %v, want %v", zone, steps, want)
			}
		}
	}
}

// FuzzDates: a period begins before it ends, is within the limits, and consists of whole days.
func FuzzDates(f *testing.F) {
	f.Add("1/1/2026/31/1/2026", uint8(0))
	f.Add("4/11/2018/4/11/2018", uint8(1))
	f.Add("1/1/2000/1/1/2407", uint8(3)) // more than a time.Duration holds
	f.Add("1/1/1970/31/12/9999", uint8(0))
	var zones []*time.Location
	for _, name := range []string{"UTC", "America/Sao_Paulo", "America/Havana", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			f.Fatal(err)
		}
		zones = append(zones, zone)
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		parts := strings.SplitN(text, "/", 6)
		if len(parts) < 6 {
			return
		}
		zone := zones[int(n)%len(zones)]
		p, err := view.Dates(parts).In(zone)
		if err != nil {
			return
		}
		first, last := p.From.In(zone), p.To.Add(-time.Second).In(zone)
		before, after := p.From.Add(-time.Second).In(zone), p.To.In(zone)
		if !p.From.Before(p.To) || p.Days() > view.MaxDays || first.Format(time.DateOnly) == before.Format(time.DateOnly) || last.Format(time.DateOnly) == after.Format(time.DateOnly) || len(p.Steps()) > 100 {
			t.Errorf("%s in %s: %v to %v", text, zone, p.From, p.To)
		}
	})
}

// TestStepsOfLaterYears: in years beyond the table of a time zone, clocks change twice a year,
// and Steps terminates.
func TestStepsOfLaterYears(t *testing.T) {
	for name, each := range map[string]int{"Europe/Berlin": 2, "Australia/Lord_Howe": 2, "America/New_York": 2, "Asia/Kathmandu": 0} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for year := 2030; year < 9996; year += 3 {
			p, err := view.Dates{"1", "1", strconv.Itoa(year), "31", "12", strconv.Itoa(year + 3)}.In(zone)
			if err != nil {
				t.Fatal(err)
			}
			if steps := p.Steps(); len(steps) != 1+4*each {
				t.Fatalf("%s from %d: %v", name, year, steps)
			}
		}
	}
}

// TestSpan tests the limits of periods of single calls.
func TestSpan(t *testing.T) {
	for _, c := range []struct {
		start, end string
		ok         bool
	}{
		{"1767225600", "1767225600", true}, {"0", "158111999", true}, {"0", "158115601", false}, {"", "1", false}, {"1", "", false}, {"2", "1", false}, {"-1", "1", false},
		{"1", "253402300800", false}, {"1.5", "2", false}, {"1", "0x2", false}, {"99999999999999999999", "99999999999999999999", false},
	} {
		p, err := view.Span(c.start, c.end)
		if (err == nil) != c.ok || err == nil && !p.From.Before(p.To) {
			t.Errorf("%s to %s: %v %v", c.start, c.end, p, err)
		}
	}
}

// TestBefore: the part of a period that has ended on a day, in the zone of the period.
func TestBefore(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	p, err := view.Dates{"1", "3", "2026", "3", "3", "2026"}.In(zone)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string][2]string{ // the date, and the end of the part before it
		"2026-03-02T22:59:59Z": {"2026-03-02", "2026-03-01T23:00:00Z"},
		"2026-03-02T23:00:00Z": {"2026-03-03", "2026-03-02T23:00:00Z"},
		"2026-03-09T12:00:00Z": {"2026-03-09", "2026-03-03T23:00:00Z"}, // all of it
		"2026-02-28T23:00:00Z": {"2026-03-01", "2026-02-28T23:00:00Z"}, // nothing
		"2020-01-01T00:00:00Z": {"2020-01-01", "2026-02-28T23:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		part := p.Before(now)
		if got := [2]string{p.Date(now), part.To.UTC().Format(time.RFC3339)}; got != want || !part.From.Equal(p.From) {
			t.Errorf("%s: %v from %v, want %v", at, got, part.From, want)
		}
	}
}
