package themes

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// content is the files of a theme at a revision.
type content struct {
	name string
	at   time.Time
	theme.Content
}

// Active returns the files of the current theme. An archive is unpacked once.
func (s *Service) Active(ctx context.Context) (theme.Content, error) {
	var t theme.Theme
	err := s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		name, err := s.Current(ctx, r)
		if err == nil && name != theme.Default {
			t, err = find(ctx, r, name)
		}
		return err
	})
	if err != nil || t.Name == "" {
		return Standard(), err
	}
	s.mu.Lock()
	last := s.read
	s.mu.Unlock()
	if last != nil && last.name == t.Name && last.at.Equal(t.UpdatedAt) {
		return last.Content, nil
	}
	archive, err := s.open(ctx, s.Scope, func(store.Reader) (string, error) { return t.Name, nil })
	if err != nil {
		return theme.Content{}, err
	}
	out, err := theme.Read(archive, s.MaxUpload)
	if err == nil {
		s.mu.Lock()
		s.read = &content{t.Name, t.UpdatedAt, out}
		s.mu.Unlock()
	}
	return out, err
}
