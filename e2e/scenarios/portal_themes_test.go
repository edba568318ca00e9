package scenarios

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// renamed returns the archive of a theme under another name.
func renamed(t *testing.T, archive, name string) string {
	t.Helper()
	from, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	to := zip.NewWriter(&out)
	for _, f := range from.File {
		if f.Name != "theme.json" {
			if err := to.Copy(f); err != nil {
				t.Fatal(err)
			}
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var about object
		if err := json.NewDecoder(r).Decode(&about); err != nil {
			t.Fatal(err)
		}
		about["name"] = name
		text, err := json.Marshal(about)
		if err != nil {
			t.Fatal(err)
		}
		w, err := to.Create(f.Name)
		if err == nil {
			_, err = io.Copy(w, bytes.NewReader(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
