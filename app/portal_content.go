package app

import (
	"log/slog"

	"github.com/gatehouse-io/gatehouse/adapters/files/record"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/pages"
	"github.com/gatehouse-io/gatehouse/app/portal/products/rows"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
)

// pages returns the configuration of content pages.
func (p portalSettings) pages(log *slog.Logger) pages.Config {
	return pages.Config{Refers: p.themes().Refers, Log: log}
}

// themes returns the settings for themes.
func (p portalSettings) themes() (s themes.Settings) {
	if p.Portal != nil {
		s = p.Themes
	}
	s.MaxUpload, s.Shelf = p.documents().MaxUpload, p.shelf()
	return s
}

// shelf returns the storage for large contents.
func (p portalSettings) shelf() contents.Shelf {
	if p.Portal == nil || p.Files == nil {
		return contents.Shelf{Storage: record.Storage{}}
	}
	return contents.Shelf{Storage: p.Files}
}

// newSweeper returns the Sweeper, which deletes files that no record names.
func newSweeper(p portalSettings, t crud.Tools) (*contents.Sweeper, error) {
	scope, err := p.scope()
	if err != nil {
		return nil, &refusal{err}
	}
	return &contents.Sweeper{Tools: t, Shelf: p.shelf(), Scope: scope, Sources: []contents.Source{rows.Pictures, themes.Archives, documents.Texts}}, nil
}

// newThemes returns the service for themes.
func newThemes(p portalSettings, t crud.Tools) (*themes.Service, error) {
	scope, err := p.scope()
	if err != nil {
		return nil, &refusal{err}
	}
	return &themes.Service{Tools: t, Settings: p.themes(), Scope: scope, Off: p.Portal == nil}, nil
}
