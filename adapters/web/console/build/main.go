// Command build makes the console's files in dist from src and vendor. The output depends
// only on the sources, not on the machine.
//
//	go run ./adapters/web/console/build           builds
//	go run ./adapters/web/console/build -check    reports stale files; writes nothing
//	go run ./adapters/web/console/build -vendor DIR
//
// The last form fills vendor from package tarballs in DIR, after checking their hashes
// against build/vendor.json.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/gatehouse-io/gatehouse/adapters/web/pack"
)

func main() {
	root := flag.String("root", "adapters/web/console", "folder of the console")
	check := flag.Bool("check", false, "compare with what is there, write nothing")
	tarballs := flag.String("vendor", "", "folder with package tarballs to fill vendor from")
	flag.Parse()
	if err := run(*root, *check, *tarballs, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "console:", err)
		os.Exit(1)
	}
}

func run(root string, check bool, tarballs string, out io.Writer) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	box := pack.Box{Root: root, Folder: "vendor"}
	if tarballs != "" {
		return box.Refresh(tarballs)
	}
	// A node_modules folder would take precedence over the packages in vendor.
	for at := root; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "node_modules")); err == nil {
			return fmt.Errorf("%s has a node_modules, which the builder would use: remove it", at)
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if err := box.Check(); err != nil {
		return err
	}
	files, err := build(root, box)
	if err != nil {
		return err
	}
	if check {
		return compare(filepath.Join(root, "dist"), files)
	}
	return write(filepath.Join(root, "dist"), files, out)
}

// build returns the built files by name.
func build(root string, box pack.Box) (map[string][]byte, error) {
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{"src/main.tsx"}, AbsWorkingDir: root, Outdir: "dist", NodePaths: []string{filepath.Join(root, "vendor")},
		Bundle: true, MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, Format: api.FormatESModule, Target: api.ES2022,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", EntryNames: "console", ChunkNames: "[name]", Splitting: true, Charset: api.CharsetUTF8,
		LegalComments: api.LegalCommentsNone, LogLevel: api.LogLevelWarning, TsconfigRaw: `{"compilerOptions":{"target":"ES2022"}}`,
	})
	if len(r.Errors) > 0 {
		return nil, errors.New("the sources do not build: see above")
	}
	files := map[string][]byte{}
	for _, f := range r.OutputFiles {
		name := filepath.Base(f.Path)
		if files[name] != nil {
			return nil, fmt.Errorf("two files would be called %s: name in src/shared.ts what several parts import", name)
		}
		files[name] = f.Contents
	}
	icon, err := os.ReadFile(filepath.Join(root, "src", "icon.svg"))
	if err != nil {
		return nil, err
	}
	files["icon.svg"] = icon
	files["licences.txt"], err = box.Licences("The console of Gatehouse is built from these packages.")
	return files, err
}

func compare(folder string, files map[string][]byte) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if files[e.Name()] == nil {
			return fmt.Errorf("dist/%s is made of nothing: build again", e.Name())
		}
	}
	for name, text := range files {
		have, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !bytes.Equal(have, text) {
			return fmt.Errorf("dist/%s is stale: run `go run ./adapters/web/console/build`", name)
		}
	}
	return nil
}

func write(folder string, files map[string][]byte, out io.Writer) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		_, _ = w.Write(text)
		_ = w.Close()
		_, _ = fmt.Fprintf(out, "%-16s %7d bytes, %6d compressed\n", name, len(text), packed.Len())
	}
	return nil
}
