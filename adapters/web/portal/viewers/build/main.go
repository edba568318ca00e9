// Command build maintains the documentation viewers: third-party packages, unchanged.
//
//	go run ./adapters/web/portal/viewers/build           writes licences.txt
//	go run ./adapters/web/portal/viewers/build -check    reports differences from the list; writes nothing
//	go run ./adapters/web/portal/viewers/build -vendor DIR
//
// The last form fills packages from tarballs in DIR, after checking their hashes against
// build/vendor.json.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gatehouse-io/gatehouse/adapters/web/pack"
)

func main() {
	root := flag.String("root", "adapters/web/portal/viewers", "folder of the viewers")
	check := flag.Bool("check", false, "compare with what is there, write nothing")
	tarballs := flag.String("vendor", "", "folder with package tarballs to fill packages from")
	flag.Parse()
	if err := run(*root, *check, *tarballs); err != nil {
		fmt.Fprintln(os.Stderr, "viewers:", err)
		os.Exit(1)
	}
}

func run(root string, check bool, tarballs string) error {
	box := pack.Box{Root: root, Folder: "packages"}
	if tarballs != "" {
		if err := box.Refresh(tarballs); err != nil {
			return err
		}
	}
	if err := box.Check(); err != nil {
		return err
	}
	text, err := box.Licences("The documentation pages of the portal use these packages.")
	if err != nil {
		return err
	}
	at := filepath.Join(root, "licences.txt")
	if !check {
		return os.WriteFile(at, text, 0o644)
	}
	if have, err := os.ReadFile(at); err != nil || !bytes.Equal(have, text) {
		return errors.New("licences.txt is stale: run `go run ./adapters/web/portal/viewers/build`")
	}
	return nil
}
