package portal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// usage is what an app has called.
type usage struct {
	From, To string
	Days     []usageDay
}

type usageDay struct {
	Date          string
	Calls, Errors int64
	Latency       float64
}

// chart is a picture of usage; a table shows the same data.
type chart struct {
	Name, Title, Unit, Summary string
	SVG                        template.HTML
	values                     []float64
}

// periods are the selectable periods, in days.
var periods = []string{"7", "30", "90"}

// Size of a chart, in its own units.
const (
	chartWide, chartHigh = 720, 180
	chartLeft, chartFoot = 56, 24
)

// charts makes the pictures of what was used. They have numbers and dates alone, and no style
// of their own.
func (u usage) charts() []chart {
	out := []chart{{Name: "traffic", Title: "Calls", Unit: "calls"}, {Name: "error", Title: "Errors", Unit: "errors"}, {Name: "latency", Title: "Latency", Unit: "ms"}}
	for i := range out {
		c := &out[i]
		for _, d := range u.Days {
			c.values = append(c.values, []float64{float64(d.Calls), float64(d.Errors), d.Latency}[i])
		}
		most, at := 0.0, 0
		for i, v := range c.values {
			if v > most {
				most, at = v, i
			}
		}
		c.Summary = "There is nothing to show."
		if most > 0 {
			c.Summary = fmt.Sprintf("At most %s %s a day, on %s.", amount(most), c.Unit, u.Days[at].Date)
		}
		var b strings.Builder
		fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-labelledby="chart-%[3]s"><title id="chart-%[3]s">%[4]s. %[5]s</title>`, chartWide, chartHigh, c.Name, c.Title, template.HTMLEscapeString(c.Summary))
		floor, step := float64(chartHigh-chartFoot), float64(chartWide-chartLeft)/float64(max(len(c.values), 1))
		for _, part := range []float64{0, 0.5, 1} {
			y := floor - part*(floor-12)
			fmt.Fprintf(&b, `<line class="rule" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`, chartLeft, chartWide, y, y, chartLeft-6, y+4, amount(most*part))
		}
		for i, v := range c.values {
			if high := v / max(most, 1e-9) * (floor - 12); high > 0 {
				fmt.Fprintf(&b, `<rect class="bar" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, chartLeft+float64(i)*step+step*0.1, floor-high, step*0.8, high)
			}
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text><text x="%d" y="%d" text-anchor="end">%s</text></svg>`, chartLeft, chartHigh-6, template.HTMLEscapeString(u.From), chartWide, chartHigh-6, template.HTMLEscapeString(u.To))
		c.SVG = template.HTML(b.String()) //nolint:gosec // made here, of numbers and escaped texts
	}
	return out
}

// amount formats a number for people.
func amount(v float64) string {
	if v >= 10 || v == float64(int64(v)) {
		return strconv.FormatInt(int64(v+0.5), 10)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// analytics shows the usage of the viewer's apps, one or all.
func (v *visit) analytics() {
	apps, _ := v.clients(0)
	q := v.r.URL.Query()
	data := map[string]any{"apps": apps, "selected": everyApp, "days": cmp.Or(q.Get("days"), "30"), "periods": periods}
	v.title = "Usage"
	var faults []string
	if id := v.asked(apps); id != everyApp || len(apps) > 0 {
		data["selected"] = id
		var u usage
		a := v.used(id)
		if a.ok() && json.Unmarshal(a.body.Bytes(), &u) == nil {
			data["usage"], data["charts"] = u, u.charts()
		} else if faults = a.faults(); a.status == http.StatusNotFound {
			v.absent()
			return
		}
	}
	v.show(http.StatusOK, "analytics", v.said(faults, data, nil))
}

// everyApp is the number for all apps in addresses.
const everyApp = 0

// asked returns the number of the app in the address, or of the newest app. Without apps
// it is everyApp.
func (v *visit) asked(apps []client) int {
	if id, err := strconv.Atoi(v.r.URL.Query().Get("app")); err == nil {
		return id
	}
	if len(apps) > 0 {
		return apps[0].ID
	}
	return everyApp
}

func (v *visit) used(app int) *reply {
	return v.call(http.MethodGet, "/apps/"+strconv.Itoa(app)+"/usage", url.Values{"days": {v.r.URL.Query().Get("days")}}, nil)
}

// chartData answers the numbers of one chart as data, for themes that draw charts
// themselves.
func (v *visit) chartData() {
	apps, _ := v.clients(0)
	var u usage
	a := v.used(v.asked(apps))
	if !a.ok() || json.Unmarshal(a.body.Bytes(), &u) != nil {
		v.refused(a)
		return
	}
	type series struct {
		Name   string    `json:"name"`
		Values []float64 `json:"values"`
	}
	var out struct {
		Labels []string `json:"labels"`
		Series []series `json:"series"`
	}
	for _, d := range u.Days {
		out.Labels = append(out.Labels, d.Date)
	}
	name := v.r.PathValue("chart")
	for _, c := range u.charts() {
		if name == c.Name || name == "overview" {
			out.Series = append(out.Series, series{c.Name, c.values})
		}
	}
	if out.Series == nil {
		v.absent()
		return
	}
	text, err := json.Marshal(out)
	if err != nil {
		v.broken("numbers cannot be written", err)
		return
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.send(http.StatusOK, text)
}
