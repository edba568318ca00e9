package theme_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

const good = `{"name":"Ocean","version":"1","author":"Ada","templates":[{"name":"Story","template":"story","layout":"wide"}]}`

func files(more theme.Files) theme.Files {
	out := theme.Files{"theme.json": []byte(good), "views/story.tmpl": []byte("<p>x</p>"), "layouts/wide.tmpl": []byte("{{yield}}")}
	maps.Copy(out, more)
	return out
}

func pack(t testing.TB, f theme.Files) []byte {
	t.Helper()
	data, err := theme.Pack(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// entry is an entry of an archive that an attacker makes.
type entry struct {
	name string
	mode fs.FileMode
	text string
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range append(entries, entry{"theme.json", 0, good}, entry{"views/story.tmpl", 0, "x"}, entry{"layouts/wide.tmpl", 0, "x"}) {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode | 0o644)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(e.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const room = 32 << 20

func TestRead(t *testing.T) {
	c, err := theme.Read(archive(t, entry{"assets/", fs.ModeDir, ""}, entry{".DS_Store", 0, "x"}, entry{"assets/a b.css", 0, "y"}), room)
	if err != nil || c.Name != "Ocean" || len(c.Files) != 5 || string(c.Files["assets/a b.css"]) != "y" {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestAttacks states that no archive reaches other folders, or costs more than the bounds
// allow.
func TestAttacks(t *testing.T) {
	bomb := strings.Repeat("\x00", theme.MaxFile+1)
	many := []entry{}
	for i := range theme.MaxFiles {
		many = append(many, entry{fmt.Sprintf("assets/%d", i), 0, ""})
	}
	spread := []entry{}
	for i := range 8 {
		spread = append(spread, entry{fmt.Sprintf("assets/%d", i), 0, bomb[:theme.MaxFile]})
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"no archive":       {[]byte("GIF89a"), "no ZIP archive"},
		"nothing":          {nil, "no ZIP archive"},
		"above":            {archive(t, entry{"../x", 0, "x"}), "outside"},
		"above inside":     {archive(t, entry{"assets/../../x", 0, "x"}), "outside"},
		"absolute":         {archive(t, entry{"/etc/passwd", 0, "x"}), "outside"},
		"backslashes":      {archive(t, entry{`..\x`, 0, "x"}), "outside"},
		"a drive":          {archive(t, entry{"C:/x", 0, "x"}), "outside"},
		"a NUL":            {archive(t, entry{"a\x00b", 0, "x"}), "outside"},
		"a link":           {archive(t, entry{"assets/link", fs.ModeSymlink, "/etc"}), "links"},
		"a device":         {archive(t, entry{"assets/device", fs.ModeDevice, ""}), "links"},
		"twice":            {archive(t, entry{"theme.json", 0, good}), "twice"},
		"twice, folded":    {archive(t, entry{"Views/story.tmpl", 0, "x"}), "twice"},
		"a bomb":           {archive(t, entry{"assets/zeros", 0, bomb}), "too large"},
		"a spread bomb":    {archive(t, spread...), "too large"},
		"many":             {archive(t, many...), "entries"},
		"a bomb that lies": {lying(t, bomb), "cannot be unpacked"},
		"wrapped":          {pack(t, theme.Files{"ocean/theme.json": []byte(good)}), "pack what is in the folder"},
		"no manifest":      {pack(t, theme.Files{"a": nil}), "theme.json is missing"},
		"a long template":  {pack(t, files(theme.Files{"views/x.tmpl": []byte(bomb[:300<<10])})), "too large"},
		"many actions":     {pack(t, files(theme.Files{"views/x.tmpl": []byte(strings.Repeat("{{1}}", 6000))})), "too large"},
		"no text":          {pack(t, files(theme.Files{"views/x.tmpl": []byte("\xff")})), "UTF-8"},
	} {
		if _, err := theme.Read(c.data, room); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// lying returns an archive that gives a wrong, small size for a file.
func lying(t testing.TB, text string) []byte {
	data := archive(t, entry{"assets/zeros", 0, text})
	size := []byte{byte(len(text)), byte(len(text) >> 8), byte(len(text) >> 16), byte(len(text) >> 24)}
	return bytes.ReplaceAll(data, size, []byte{1, 0, 0, 0})
}

func TestManifests(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for name, c := range map[string][2]string{
		"no JSON":         {"{", "no JSON"},
		"no name":         {with("Ocean", " "), "name is missing"},
		"no version":      {with(`"1"`, `""`), "version is missing"},
		"no author":       {with("Ada", ""), "author is missing"},
		"the default":     {with("Ocean", "Default"), "taken"},
		"a slash":         {with("Ocean", "a/b"), "name is invalid"},
		"dots":            {with("Ocean", ".."), "name is invalid"},
		"a word of paths": {with("Ocean", "upload"), "name is invalid"},
		"a line":          {with("Ocean", `a\nb`), "name is invalid"},
		"long":            {with("Ocean", strings.Repeat("x", 101)), "name is invalid"},
		"no templates":    {with(`{"name":"Story","template":"story","layout":"wide"}`, ""), "templates is missing"},
		"no view":         {with(`"story"`, `"x"`), "views/x.tmpl is missing"},
		"no layout":       {with(`"wide"`, `"x"`), "layouts/x.tmpl is missing"},
		"no template":     {with(`"template":"story",`, ""), "name and template"},
		"twice":           {with(`[{`, `[{"name":"Story","template":"story"},{`), "twice"},
	} {
		if _, err := theme.New(files(theme.Files{"theme.json": []byte(c[0])})); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %q", name, err, c[1])
		}
	}
}

// TestShapes states which templates are refused although they can be parsed.
func TestShapes(t *testing.T) {
	chain := ""
	for i := range 10 {
		chain += fmt.Sprintf(`{{define "t%d"}}{{template "t%d"}}{{end}}`, i, i+1)
	}
	for name, c := range map[string][2]string{
		"does not parse":  {"{{if}}", "does not parse"},
		"itself":          {`{{define "x"}}{{template "x"}}{{end}}`, "includes itself"},
		"each other":      {`{{define "x"}}{{template "y"}}{{end}}{{define "y"}}{{if 1}}{{template "x"}}{{end}}{{end}}`, "includes itself"},
		"a chain":         {chain, "levels deep"},
		"ranges":          {strings.Repeat("{{range .a}}", 7) + strings.Repeat("{{end}}", 7), "ranges"},
		"signs":           {strings.Repeat("<", 40_000), "too many <"},
		"signs in fields": {"<textarea>" + strings.Repeat("<a>", 25_000), "too many <"},
		"signs in ranges": {strings.Repeat("{{range .a}}", 6) + strings.Repeat("<", 5_000) + strings.Repeat("{{end}}", 6), "too many <"},
		"parentheses":     {"{{" + strings.Repeat("(", 20_000) + "1}}", "does not parse"},
	} {
		content, err := theme.New(files(theme.Files{"views/x.tmpl": []byte(c[0])}))
		if err == nil {
			_, err = content.Parse()
		}
		if err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %q", name, err, c[1])
		}
	}
	deep := strings.Repeat("{{if 1}}", 4000) + strings.Repeat("{{end}}", 900)
	if content, err := theme.New(files(theme.Files{"views/x.tmpl": []byte(deep)})); err == nil {
		if _, err = content.Parse(); err == nil {
			t.Error("an open if parses")
		}
	}
}

func TestBlocks(t *testing.T) {
	c, err := theme.New(files(theme.Files{
		"views/story.tmpl":  []byte(`{{safe .blocks.B.Content}}{{if .blocks.A}}{{range .x}}{{$.blocks.C.Content}}{{end}}{{end}}{{(index .blocks "D e").Content}}{{render "end" .}}{{.other.X}}`),
		"partials/end.tmpl": []byte(`{{with .blocks.E}}{{.Content}}{{end}}{{render "end"}}{{render "none"}}`),
		"layouts/wide.tmpl": []byte(`{{yield}}{{.blocks.Footer.Content}}`),
	}))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := c.Entries()
	if err != nil || len(entries) != 1 || !slices.Equal(entries[0].Blocks, []string{"A", "B", "C", "D e", "E", "Footer"}) {
		t.Errorf("%+v, %v", entries, err)
	}
	for name, want := range map[string]bool{"story": true, "Story": true, "": false, "x": false} {
		if _, known := theme.Find(entries, name); known != want {
			t.Errorf("%q is known: %v", name, known)
		}
	}
}

// FuzzRead: reading ends for every input, and the files of a theme are inside its folder and
// bounded.
func FuzzRead(f *testing.F) {
	f.Add(pack(f, files(nil)))
	f.Add(archive(f, entry{"../x", fs.ModeSymlink, "x"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := theme.Read(data, 1<<20)
		if err != nil {
			return
		}
		sum := 0
		for name, text := range c.Files {
			if sum += len(text); !fs.ValidPath(name) || sum > 1<<20 {
				t.Error(name, sum)
			}
		}
		if _, err := c.Parse(); err == nil {
			_, _ = c.Entries()
		}
	})
}
