package app_test

import (
	"archive/zip"
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

// themes of transcripts, by name.
var archived = map[string]theme.Files{
	"ocean":   ocean("1.0.0", nil),
	"ocean2":  ocean("2.0.0", theme.Files{"assets/logo.svg": []byte("<svg/>")}),
	"nothing": {"readme.txt": []byte("x")},
	"wrapped": {"ocean/theme.json": []byte("{}")},
	"slip":    ocean("1.0.0", theme.Files{"../../etc/passwd": []byte("x")}),
	"default": {"theme.json": []byte(`{"name":"default","version":"1","author":"a","templates":[{"name":"P","template":"page"}]}`), "views/page.tmpl": []byte("x")},
	"broken":  ocean("1.0.0", theme.Files{"views/other.tmpl": []byte("{{if}}")}),
	"torn":    ocean("1.0.0", theme.Files{"views/other.tmpl": []byte(`<a {{if .x}}href="{{end}}>`)}),
	"lacking": {"theme.json": []byte(`{"name":"Ocean","version":"1","author":"a","templates":[{"name":"P","template":"page","layout":"wide"}]}`), "views/page.tmpl": []byte("x")},
}

func ocean(version string, more theme.Files) theme.Files {
	out := theme.Files{
		"theme.json":          []byte(`{"name":"Ocean 1.x","version":"` + version + `","author":"Ada","templates":[{"name":"Story","template":"story","layout":"wide"}]}`),
		"views/story.tmpl":    []byte(`<h1>{{.page.Title}}</h1>{{safe .blocks.Intro.Content}}{{render "end" .}}`),
		"partials/end.tmpl":   []byte(`{{(index $.blocks "Last word").Content}}`),
		"layouts/wide.tmpl":   []byte(`<main>{{yield}}</main>`),
		"mailers/x.text.tmpl": []byte(`{{.name}}`),
	}
	for name, text := range more {
		out[name] = text
	}
	return out
}

var archiveName = regexp.MustCompile(`\{archive ([a-z0-9]+)\}`)

// withArchives puts archives into the body of a request.
func withArchives(body string) string {
	return archiveName.ReplaceAllStringFunc(body, func(s string) string {
		files, known := archived[archiveName.FindStringSubmatch(s)[1]]
		if !known {
			panic("no archive is called " + s)
		}
		data, err := theme.Pack(files)
		if err != nil {
			panic(err)
		}
		return string(data)
	})
}

// listArchive shows an archive as the names of its files.
func listArchive(t testing.TB, data []byte) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range z.File {
		out = append(out, f.Name)
	}
	return strings.Join(out, "\n")
}
