// Package render is the port to what runs the templates of themes. Themes are made by
// others than those who run the portal: an engine bounds what a template may cost.
package render

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

// Job is one page or one mail.
type Job struct {
	// Templates are all that may be needed. Those of one job make HTML, or plain text.
	Templates []theme.Source
	Name      string // of the template
	Layout    string // of the template around it, which calls yield; "": none
	Data      any
	// Functions are what templates may call in this job, out of theme.Functions; those that
	// are not here fail when they are called.
	Functions map[string]any
}

// Engine runs templates.
type Engine interface {
	// Check finds out whether templates can be run together, without running them. Its
	// errors name the template and the place.
	Check(templates []theme.Source) error
	// Render runs a job. It returns when ctx ends, and an error when the job costs more
	// than it may.
	Render(ctx context.Context, j Job) ([]byte, error)
	// Prepare reads templates once, for many jobs.
	Prepare(templates []theme.Source) (Templates, error)
}

// Templates are templates that were read. They run several jobs at a time.
type Templates interface {
	// Render is that of Engine; it does not look at the templates of the job.
	Render(ctx context.Context, j Job) ([]byte, error)
}
