package bundle_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/core/description/bundle"
	"github.com/gatehouse-io/gatehouse/core/doc"
	yamlport "github.com/gatehouse-io/gatehouse/ports/yaml"
)

// packed is a file of an archive.
type packed struct {
	name, text string
	mode       fs.FileMode
}

func pack(t testing.TB, files ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		if f.mode != 0 {
			h.SetMode(f.mode)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(f.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const mainFile = "openapi: 3.0.3\npaths:\n  /a:\n    $ref: paths/a.yaml\n"

func TestUnpack(t *testing.T) {
	const want = `{"openapi":"3.0.3","paths":{"/a":{"get":{"parameters":[{"$ref":"#/components/parameters/id"}]}}},"components":{"parameters":{"id":{"name":"id"}}}}`
	item, params := "get:\n  parameters:\n  - $ref: '../p.json#/id'\n", `{"id":{"name":"id"}}`
	for name, files := range map[string][]packed{
		"at the root":   {{name: "p.json", text: params}, {name: "paths/a.yaml", text: item}, {name: "openapi.yml", text: mainFile}},
		"in one folder": {{name: "api/"}, {name: "api/openapi.yaml", text: mainFile}, {name: "api/paths/a.yaml", text: item}, {name: "api/p.json", text: params}},
		"with other files": {{name: "./openapi.yaml", text: mainFile}, {name: "paths/a.yaml", text: item}, {name: "p.json", text: params}, {name: "README.md", text: "{"},
			{name: "__MACOSX/._openapi.yaml", text: "\x00"}, {name: "paths/._a.yaml", text: "\x00"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := bundle.Unpack(pack(t, files...), parse)
			if err != nil || string(got.JSON()) != want {
				t.Errorf("%s, %v", got.JSON(), err)
			}
		})
	}
}

func TestUnpackRefuses(t *testing.T) {
	good := packed{name: "openapi.yaml", text: "openapi: 3.0.3\n"}
	many := []packed{good}
	for i := range bundle.MaxFiles {
		many = append(many, packed{name: fmt.Sprintf("%d.json", i), text: "{}"})
	}
	var aliases []packed // many values in few bytes
	for i := range 40 {
		aliases = append(aliases, packed{name: fmt.Sprintf("%d.yaml", i), text: "a: &a [" + strings.Repeat("0,", 900) + "]\nb: [" + strings.Repeat("*a,", 15) + "]\n"})
	}
	broken := pack(t, packed{name: "openapi.yaml", text: strings.Repeat("openapi: 3.0.3\n", 100)})
	copy(broken[45:], "xxxxxxxx")
	for name, tt := range map[string]struct {
		archive []byte
		want    error
	}{
		"no archive":                {[]byte("PK"), bundle.ErrArchive},
		"empty":                     {pack(t), bundle.ErrMain},
		"damaged":                   {broken, bundle.ErrArchive},
		"no main file":              {pack(t, packed{name: "swagger.json", text: "{}"}), bundle.ErrMain},
		"two folders":               {pack(t, packed{name: "a/openapi.json", text: "{}"}, packed{name: "b/openapi.json", text: "{}"}), bundle.ErrMain},
		"above the root":            {pack(t, good, packed{name: "../a.json", text: "{}"}), bundle.ErrArchive},
		"above by a detour":         {pack(t, good, packed{name: "a/../../a.json", text: "{}"}), bundle.ErrArchive},
		"an absolute path":          {pack(t, good, packed{name: "/etc/a.json", text: "{}"}), bundle.ErrArchive},
		"a path of Windows":         {pack(t, good, packed{name: `..\a.json`, text: "{}"}), bundle.ErrArchive},
		"a link":                    {pack(t, good, packed{name: "a.json", text: "/etc/passwd", mode: fs.ModeSymlink | 0o777}), bundle.ErrArchive},
		"twice the same":            {pack(t, good, packed{name: "./openapi.yaml", text: "{}"}), bundle.ErrArchive},
		"too many files":            {pack(t, many...), bundle.ErrArchive},
		"too many bytes":            {pack(t, good, packed{name: "a.json", text: `"` + strings.Repeat("a", 33<<20) + `"`}), bundle.ErrArchive},
		"too many values":           {pack(t, append(aliases, good)...), bundle.ErrArchive},
		"too deep":                  {pack(t, good, packed{name: "a.json", text: strings.Repeat("[", 500) + strings.Repeat("]", 500)}), bundle.ErrTooLarge},
		"no YAML":                   {pack(t, good, packed{name: "a.json", text: "{"}), yamlport.ErrSyntax},
		"a reference that has left": {pack(t, packed{name: "openapi.yaml", text: mainFile}), bundle.ErrReference},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := bundle.Unpack(tt.archive, parse); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
}

// FuzzUnpack: any bytes are unpacked or refused.
func FuzzUnpack(f *testing.F) {
	f.Add(pack(f, packed{name: "openapi.yaml", text: mainFile}, packed{name: "paths/a.yaml", text: "get: {}"}))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, archive []byte) {
		if n, err := bundle.Unpack(archive, parse); err == nil && n == nil {
			t.Error("neither a document nor an error")
		}
	})
}

func parse(text []byte) (*doc.Node, error) {
	return yaml.Codec{}.Parse(text, yamlport.Limits{Bytes: 32 << 20, Values: bundle.MaxNodes})
}
