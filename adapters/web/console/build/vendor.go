package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// vendored is a package that the console is built from.
type vendored struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Licence string   `json:"licence"`
	Tarball string   `json:"tarball"` // name of the file, as `npm pack` makes it
	SHA512  string   `json:"sha512"`  // of the tarball, in base64
	Files   []string `json:"files"`   // what is kept of it
	Tests   bool     `json:"tests,omitempty"`
}

// maxPackage bounds what a tarball expands to.
const maxPackage = 32 << 20

func list(root string) ([]vendored, error) {
	text, err := os.ReadFile(filepath.Join(root, "build", "vendor.json"))
	if err != nil {
		return nil, err
	}
	var out []vendored
	err = json.Unmarshal(text, &out)
	return out, err
}

// folder is where a package is kept. Those for tests are not in what is built.
func (v vendored) folder(root string) string {
	if v.Tests {
		return filepath.Join(root, "testdata", v.Name)
	}
	return filepath.Join(root, "vendor", v.Name)
}

// refresh fills vendor from tarballs whose hashes are right.
func refresh(root, tarballs string) error {
	packages, err := list(root)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(root, "vendor")); err != nil {
		return err
	}
	for _, p := range packages {
		if err := p.unpack(root, filepath.Join(tarballs, p.Tarball)); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

func (v vendored) unpack(root, tarball string) error {
	packed, err := os.ReadFile(tarball)
	if err != nil {
		return err
	}
	sum := sha512.Sum512(packed)
	if got := base64.StdEncoding.EncodeToString(sum[:]); got != v.SHA512 {
		return fmt.Errorf("the tarball has another hash: %s", got)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	return v.extract(root, tar.NewReader(io.LimitReader(z, maxPackage)))
}

// extract keeps the files that the list names. Names of the archive choose nothing else.
func (v vendored) extract(root string, from *tar.Reader) error {
	missing := map[string]bool{}
	for _, name := range v.Files {
		missing[name] = true
	}
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(h.Name, "/")
		if !missing[name] {
			continue
		}
		delete(missing, name)
		text, err := io.ReadAll(from)
		if err != nil {
			return err
		}
		to := filepath.Join(v.folder(root), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the tarball lacks %v", missing)
	}
	return nil
}

// checkVendor says which file is in vendor and in no package of the list, and which
// package has another version.
func checkVendor(root string) error {
	packages, err := list(root)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, p := range packages {
		for _, f := range p.Files {
			known[path.Join(p.Name, f)] = !p.Tests
		}
		text, err := os.ReadFile(filepath.Join(p.folder(root), "package.json"))
		if err != nil {
			return err
		}
		var is vendored
		if err := json.Unmarshal(text, &is); err != nil || is.Version != p.Version {
			return fmt.Errorf("%s has version %s, build/vendor.json says %s", p.Name, is.Version, p.Version)
		}
	}
	base := filepath.Join(root, "vendor")
	return filepath.WalkDir(base, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(base, at)
		if err == nil && !known[filepath.ToSlash(name)] {
			err = fmt.Errorf("vendor/%s is not in build/vendor.json", name)
		}
		return err
	})
}

// licences joins the licences of what the console's files are made of.
func licences(root string) ([]byte, error) {
	packages, err := list(root)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("The console of Gatehouse is built from these packages.\n")
	for _, p := range packages {
		if p.Tests {
			continue
		}
		text, err := os.ReadFile(filepath.Join(p.folder(root), "LICENSE"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "\n%s\n%s %s (%s)\n\n%s\n", strings.Repeat("=", 70), p.Name, p.Version, p.Licence, bytes.TrimSpace(text))
	}
	return b.Bytes(), nil
}
