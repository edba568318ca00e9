package portal

import (
	"context"
	"strings"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/ports/render"
)

// dressed is a theme that is ready to be rendered: its templates are parsed, and its
// assets are indexed. If the templates cannot be parsed, each page reports that error.
type dressed struct {
	theme.Content
	pages  render.Templates
	assets map[string]*asset
	broken error
}

func dress(e render.Engine, c theme.Content) *dressed {
	out := &dressed{Content: c, assets: map[string]*asset{}}
	for name, text := range c.Files {
		if at, ok := strings.CutPrefix(name, "assets/"); ok {
			out.assets[at] = assetOf(name, text)
		}
	}
	var pages []theme.Source // other templates are for mails
	for _, s := range c.Sources() {
		if s.HTML && !strings.HasPrefix(s.Name, theme.Mailers) && !strings.HasPrefix(s.Name, theme.Layouts+"emails") {
			pages = append(pages, s)
		}
	}
	out.pages, out.broken = e.Prepare(pages)
	return out
}

// wardrobe caches the standard theme and the theme that was shown last.
type wardrobe struct {
	engine   render.Engine
	standard *dressed
	mu       sync.Mutex
	last     *dressed
}

// worn returns the current theme, which is prepared once.
func (s *server) worn(ctx context.Context) (*dressed, error) {
	c, err := s.Theme(ctx)
	if err != nil || c.Digest == s.standard.Digest {
		return s.standard, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil || s.last.Digest != c.Digest {
		s.last = dress(s.engine, c)
	}
	return s.last, nil
}
