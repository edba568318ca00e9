// Package pack copies third-party browser packages into folders of this module, at the
// versions and with the hashes in build/vendor.json. Only commands and tests use it.
package pack

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

// Box is a folder with packages.
type Box struct {
	Root   string // which has build/vendor.json
	Folder string // below Root, where packages are
}

// vendored is a package in the list.
type vendored struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Licence string   `json:"licence"`
	Tarball string   `json:"tarball"` // file name, as `npm pack` makes it
	SHA512  string   `json:"sha512"`  // of the tarball, in base64
	Files   []string `json:"files"`   // the files that are copied
	Tests   bool     `json:"tests,omitempty"`
}

// maxPackage is the maximum unpacked size of a tarball in bytes.
const maxPackage = 32 << 20

func (b Box) list() ([]vendored, error) {
	text, err := os.ReadFile(filepath.Join(b.Root, "build", "vendor.json"))
	if err != nil {
		return nil, err
	}
	var out []vendored
	err = json.Unmarshal(text, &out)
	return out, err
}

// folder returns the folder of a package. Packages for tests are outside of what is built.
func (b Box) folder(v vendored) string {
	if v.Tests {
		return filepath.Join(b.Root, "testdata", v.Name)
	}
	return filepath.Join(b.Root, b.Folder, v.Name)
}

// Refresh fills the folder from tarballs after checking their hashes.
func (b Box) Refresh(tarballs string) error {
	packages, err := b.list()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(b.Root, b.Folder)); err != nil {
		return err
	}
	for _, p := range packages {
		if err := b.unpack(p, filepath.Join(tarballs, p.Tarball)); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// unpack copies the files in the list. Other names in the archive are ignored.
func (b Box) unpack(v vendored, tarball string) error {
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
	from := tar.NewReader(io.LimitReader(z, maxPackage))
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
		to := filepath.Join(b.folder(v), filepath.FromSlash(name))
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

// Check returns an error for a file in the folder that belongs to no package of the list,
// and for a package with another version.
func (b Box) Check() error {
	packages, err := b.list()
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, p := range packages {
		for _, f := range p.Files {
			known[path.Join(p.Name, f)] = !p.Tests
		}
		text, err := os.ReadFile(filepath.Join(b.folder(p), "package.json"))
		if err != nil {
			return err
		}
		var is vendored
		if err := json.Unmarshal(text, &is); err != nil || is.Version != p.Version {
			return fmt.Errorf("%s has version %s, build/vendor.json says %s", p.Name, is.Version, p.Version)
		}
	}
	base := filepath.Join(b.Root, b.Folder)
	return filepath.WalkDir(base, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(base, at)
		if err == nil && !known[filepath.ToSlash(name)] {
			err = fmt.Errorf("%s/%s is not in build/vendor.json", b.Folder, name)
		}
		return err
	})
}

// Licences joins the licences of the packages below a heading: the licence of each package,
// and the notices of the code inside it.
func (b Box) Licences(heading string) ([]byte, error) {
	packages, err := b.list()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(heading + "\n")
	for _, p := range packages {
		if p.Tests {
			continue
		}
		fmt.Fprintf(&out, "\n%s\n%s %s (%s)\n", strings.Repeat("=", 70), p.Name, p.Version, p.Licence)
		for _, name := range p.Files {
			if !strings.Contains(path.Base(name), "LICENSE") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(b.folder(p), filepath.FromSlash(name)))
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&out, "\n%s\n", bytes.TrimSpace(text))
		}
	}
	return out.Bytes(), nil
}
