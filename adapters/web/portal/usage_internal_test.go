package portal

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestCharts renders well-formed charts for all numbers.
func TestCharts(t *testing.T) {
	for _, days := range [][]usageDay{nil, {{"2026-01-01", 0, 0, 0}}, {{"2026-01-01", 1, 1, 0.4}, {"2026-01-02", 1 << 50, 7, 1e9}}, {{"<b>", -3, -1, -1}}} {
		for _, c := range (usage{From: "2026-01-01", To: "<b>", Days: days}).charts() {
			d := xml.NewDecoder(strings.NewReader(string(c.SVG)))
			for {
				_, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err, c.SVG)
				}
			}
			if strings.Contains(string(c.SVG), "<b>") || strings.Contains(string(c.SVG), "NaN") || strings.Contains(string(c.SVG), `height="-`) {
				t.Error(c.SVG)
			}
		}
	}
	c := usage{Days: []usageDay{{"2026-01-01", 5, 0, 0}, {"2026-01-02", 12, 0, 0}}}.charts()[0]
	if c.Summary != "At most 12 calls a day, on 2026-01-02." || strings.Count(string(c.SVG), "<rect") != 2 {
		t.Error(c.Summary, c.SVG)
	}
}
