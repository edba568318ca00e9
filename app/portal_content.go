package app

import (
	"context"
	"log/slog"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal/door"
	"github.com/gatehouse-io/gatehouse/app/portal/mails"
	"github.com/gatehouse-io/gatehouse/app/portal/menus"
	"github.com/gatehouse-io/gatehouse/app/portal/pages"
	"github.com/gatehouse-io/gatehouse/app/portal/posts"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// contentKinds are the kinds of what the portal shows besides products.
func (p portalSettings) contentKinds(log *slog.Logger) []crud.Registrar {
	return slices.Concat(p.pages(log).Resources(), posts.Resources(), menus.Resources(), themes.Registrations(), mails.Registrations())
}

// pages is what content pages are made of.
func (p portalSettings) pages(log *slog.Logger) pages.Config {
	return pages.Config{Refers: p.themes().Refers, Log: log}
}

// themes says what themes the portal takes.
func (p portalSettings) themes() (s themes.Settings) {
	if p.Portal != nil {
		s = p.Themes
	}
	s.MaxUpload = p.documents().MaxUpload
	return s
}

// newThemes looks after how the portal looks.
func newThemes(p portalSettings, t crud.Tools) *themes.Service {
	return &themes.Service{Tools: t, Settings: p.themes(), Off: p.Portal == nil}
}

// content stores the pages and the menu that a portal begins with.
func (p portalSettings) content(log *slog.Logger) door.Seed {
	return func(ctx context.Context, w store.Writer, at crud.Stamp) error {
		if err := p.pages(log).Found(ctx, w, at, themes.Standard().Pages); err != nil {
			return err
		}
		return menus.Found(ctx, w, at)
	}
}
