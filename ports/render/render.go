// Package render is the port to the engine that runs the templates of themes. The authors of
// themes are not the operators of the portal, so an engine limits the cost of a template.
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
	// Functions are the functions that templates may call in this job, out of theme.Functions. A
	// call of another function fails.
	Functions map[string]any
}

// Engine runs templates.
type Engine interface {
	// Check checks whether templates can be run together, without running them. Its errors name
	// the template and the place.
	Check(templates []theme.Source) error
	// Render runs a job. It returns when ctx ends, and returns an error when the job costs more
	// than allowed.
	Render(ctx context.Context, j Job) ([]byte, error)
	// Prepare parses templates once, for many jobs.
	Prepare(templates []theme.Source) (Templates, error)
}

// Templates are parsed templates. They are safe for concurrent use.
type Templates interface {
	// Render runs a job like that of Engine, but ignores the templates of the job.
	Render(ctx context.Context, j Job) ([]byte, error)
}
