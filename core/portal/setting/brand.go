package setting

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Brand is the look of a portal's pages that an operator can set with any theme
// (docs/guide-portal-pages.md#look).
type Brand struct {
	Name        string
	Description string
	Logo        string // path of a file, or a picture as a data URL; "": that of the theme
	Font        string // "": that of the theme
	Footer      string
	Light, Dark Accent
}

// Accent is a colour of links and buttons, with the colour of texts on it. Empty: that of the
// theme.
type Accent struct{ Colour, Ink string }

// SiteName is the default name of a portal.
const SiteName = "Developer portal"

// Brand returns the look in the settings.
func (s Settings) Brand() Brand {
	return Brand{
		Name: cmp.Or(s.SiteName, SiteName), Description: s.SiteDescription, Logo: s.Logo, Font: s.FontFamily, Footer: s.FooterText,
		Light: accentOn(s.AccentColour, white, black), Dark: accentOn(s.AccentColour, night, white),
	}
}

// colour is red, green and blue from 0 to 1.
type colour [3]float64

// The backgrounds of pages, and the colours that are mixed in until an accent is legible.
var (
	white = colour{1, 1, 1}
	black = colour{}
	night = colour{0.063, 0.086, 0.122}
)

// legible is the contrast that texts require (WCAG 2.2, 1.4.3).
const legible = 4.5

// accentOn returns a colour for links on the background paper, mixed with the colour with
// until it is legible.
func accentOn(text string, paper, with colour) Accent {
	c, ok := parseColour(text)
	if !ok {
		return Accent{}
	}
	first := c
	for step := 1; contrast(c, paper) < legible && step <= 20; step++ {
		share := float64(step) / 20
		for i := range c {
			c[i] = first[i]*(1-share) + with[i]*share
		}
	}
	ink := white
	if contrast(c, black) > contrast(c, white) {
		ink = black
	}
	return Accent{c.String(), ink.String()}
}

func parseColour(text string) (c colour, ok bool) {
	if len(text) != 7 || text[0] != '#' {
		return c, false
	}
	n, err := strconv.ParseUint(text[1:], 16, 32)
	return colour{float64(n>>16) / 255, float64(n>>8&255) / 255, float64(n&255) / 255}, err == nil
}

// String returns the colour in the form of style sheets.
func (c colour) String() string {
	part := func(x float64) int { return int(math.Round(255 * x)) }
	return fmt.Sprintf("#%02x%02x%02x", part(c[0]), part(c[1]), part(c[2]))
}

// luminance returns the relative luminance of a colour (WCAG 2.2).
func (c colour) luminance() float64 {
	lin := func(x float64) float64 {
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(c[0]) + 0.7152*lin(c[1]) + 0.0722*lin(c[2])
}

func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

var (
	picture = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$`)
	fonts   = regexp.MustCompile(`^[A-Za-z0-9 ,_-]+$`)
)

// isLogo reports whether a text is the path of a file of this portal, or a picture.
func isLogo(text string) bool {
	path := strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") && isLine(text) && !strings.ContainsAny(text, `\"'<> `)
	return text == "" || path || picture.MatchString(text)
}
