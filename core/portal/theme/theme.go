// Package theme models the themes of the portal: an archive of templates and assets with a
// manifest (docs/wire/portal-content.md#themes).
package theme

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind, ArchiveKind and CurrentKind are the names of the resources in storage.
const (
	Kind        = "portal-theme"
	ArchiveKind = "portal-theme-archive"
	CurrentKind = "portal-theme-current"
)

// Default is the name of the theme that every portal has.
const Default = "default"

// The states of a theme.
const (
	Current   = "Current"
	NotInUse  = "Not in use"
	Extension = ".tmpl"      // of templates
	manifest  = "theme.json" // at the root of an archive
)

// Folders of templates.
const (
	Views    = "views/"
	Layouts  = "layouts/"
	Partials = "partials/"
	Mailers  = "mailers/"
)

// Theme is a theme that was uploaded. Its files are an Archive.
type Theme struct {
	ID        string    `json:"id"`
	Portal    tenant.ID `json:"org_id"`
	Name      string    `json:"name"`
	Version   string    `json:"version"`
	Author    string    `json:"author"`
	Templates []Entry   `json:"templates"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	DeletedAt time.Time `json:"deleted_at,omitzero"`
}

// Entry is a template of the manifest with the content blocks that it refers to.
type Entry struct {
	Template
	Blocks []string `json:"blocks,omitempty"`
}

// Archive is the files of a theme, as they were uploaded.
type Archive struct {
	ID     string     `json:"id"`
	Portal tenant.ID  `json:"org_id"`
	Data   []byte     `json:"data"` // nil: it is at File
	File   file.Place `json:"file,omitzero"`
}

// InUse says which theme the portal shows.
type InUse struct {
	Portal tenant.ID `json:"org_id"`
	Name   string    `json:"name"`
}

// Template is an entry of a manifest: the name of a sort of page, the file below views that
// shows it, and the file below layouts around it.
type Template struct {
	Name     string `json:"name"`
	Template string `json:"template"`
	Layout   string `json:"layout"`
}

// Page is a page that a portal gets when it is created with the theme. Pages are an extension
// of the format.
type Page struct {
	Title    string            `json:"title"`
	Path     string            `json:"path"`
	Template string            `json:"template"`
	Blocks   map[string]string `json:"blocks"`
}

// Manifest is the content of theme.json.
type Manifest struct {
	Name      string     `json:"name"`
	Version   string     `json:"version"`
	Author    string     `json:"author"`
	Templates []Template `json:"templates"`
	Pages     []Page     `json:"pages"`
}

// CodeArchive is the code of the fault for an archive that is not a theme.
const CodeArchive = "theme.archive"

func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, CodeArchive, format, args...).At("file")
}

// Bounds of manifests.
const (
	maxManifest  = 256 << 10
	maxName      = 100
	maxText      = 255
	maxTemplates = 500
)

// parseManifest reads the manifest of a theme.
func parseManifest(text []byte) (m Manifest, err error) {
	if len(text) > maxManifest {
		return m, invalid("theme.json is too large: %d bytes at most", maxManifest)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, invalid("theme.json is no JSON object of a theme: %s", err.Error())
	}
	for _, f := range []struct{ name, text string }{{"name", m.Name}, {"version", m.Version}, {"author", m.Author}} {
		switch {
		case strings.TrimSpace(f.text) == "":
			return m, invalid("theme.json: %s is missing", f.name)
		case utf8.RuneCountInString(f.text) > maxText || strings.ContainsFunc(f.text, unicode.IsControl):
			return m, invalid("theme.json: %s is invalid: a text of %d characters at most", f.name, maxText)
		}
	}
	switch {
	case m.Name == "upload" || utf8.RuneCountInString(m.Name) > maxName || strings.ContainsAny(m.Name, `/\`) || m.Name != strings.TrimSpace(m.Name) || strings.Trim(m.Name, ".") == "":
		return m, invalid("theme.json: name is invalid: %d characters at most, without slashes", maxName)
	case len(m.Templates) == 0:
		return m, invalid("theme.json: templates is missing: name at least one")
	case len(m.Templates) > maxTemplates || len(m.Pages) > maxTemplates:
		return m, invalid("theme.json: %d templates and pages at most", maxTemplates)
	}
	return m, nil
}

// Files are the files of a theme by their paths.
type Files map[string][]byte

// Content is a theme that was read from its files.
type Content struct {
	Manifest
	Files Files
	// Digest identifies the files: other files have another digest.
	Digest string
}

// complete refuses a theme when a file that its manifest names does not exist.
func (c Content) complete() error {
	seen := map[string]bool{}
	for i, t := range c.Templates {
		at := fmt.Sprintf("theme.json: templates[%d]", i)
		switch {
		case strings.TrimSpace(t.Name) == "" || strings.TrimSpace(t.Template) == "":
			return invalid("%s: name and template are needed", at)
		case seen[t.Name]:
			return invalid("%s: the name %q is there twice", at, t.Name)
		case !c.Has(Views + t.Template):
			return invalid("%s: the file %s%s%s is missing", at, Views, t.Template, Extension)
		case t.Layout != "" && !c.Has(Layouts+t.Layout):
			return invalid("%s: the file %s%s%s is missing", at, Layouts, t.Layout, Extension)
		}
		seen[t.Name] = true
	}
	return nil
}

// Has reports whether there is a template with a path, which has no extension.
func (c Content) Has(name string) bool { return c.Files[name+Extension] != nil }

// Find returns the entry for a page, by the value of template or by the name of the entry.
func Find(all []Entry, template string) (Entry, bool) {
	for _, by := range []func(Entry) string{func(e Entry) string { return e.Template.Template }, func(e Entry) string { return e.Name }} {
		if i := slices.IndexFunc(all, func(e Entry) bool { return template != "" && by(e) == template }); i >= 0 {
			return all[i], true
		}
	}
	return Entry{}, false
}

// Source is the text of a template. Its name is its path without the extension.
type Source struct {
	Name string
	Text string
	HTML bool // the output is HTML, not plain text
}

// Sources returns the templates of a theme, in order of name.
func (c Content) Sources() (out []Source) {
	for name, text := range c.Files {
		if isTemplate(name) {
			name = strings.TrimSuffix(name, Extension)
			out = append(out, Source{name, string(text), !strings.HasSuffix(name, ".text")})
		}
	}
	slices.SortFunc(out, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func isTemplate(name string) bool {
	return path.Ext(name) == Extension && !strings.HasPrefix(name, "assets/")
}
