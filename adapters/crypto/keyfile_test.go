package crypto_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
)

func TestLoadOrCreateKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	made, err := crypto.LoadOrCreateKey(path)
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(made) {
		t.Fatalf("%q, %v", made, err)
	}
	again, err := crypto.LoadOrCreateKey(path)
	if again != made || err != nil {
		t.Errorf("second start: %q, %v", again, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func TestLoadOrCreateKeyKeepsGivenOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("\n chosen by the administrator\r\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	if key, err := crypto.LoadOrCreateKey(path); key != "chosen by the administrator" || err != nil {
		t.Errorf("%q, %v", key, err)
	}
}

// TestLoadOrCreateKeyRace starts many calls at once, repeatedly.
func TestLoadOrCreateKeyRace(t *testing.T) {
	for range 20 {
		path := filepath.Join(t.TempDir(), "key")
		got := make([]string, 8)
		var start, done sync.WaitGroup
		start.Add(1)
		for i := range got {
			done.Go(func() {
				start.Wait()
				key, err := crypto.LoadOrCreateKey(path)
				if err != nil {
					t.Error(err)
				}
				got[i] = key
			})
		}
		start.Done()
		done.Wait()
		if slices.Sort(got); len(slices.Compact(got)) != 1 {
			t.Fatal("processes that started at once have different keys")
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); len(entries) != 1 || err != nil {
			t.Fatalf("left behind: %v, %v", entries, err)
		}
	}
}

func TestLoadOrCreateKeyRefuses(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := crypto.LoadOrCreateKey(empty); key != "" || err == nil {
		t.Errorf("empty file: %q, %v", key, err)
	}
	if key, err := crypto.LoadOrCreateKey(filepath.Join(dir, "absent", "key")); key != "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %q, %v", key, err)
	}
	if key, err := crypto.LoadOrCreateKey(dir); key != "" || err == nil {
		t.Errorf("a folder: %q, %v", key, err)
	}
}

// The mode of a key file that others could read is restricted to its owner.
func TestKeyFileIsTightened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("a longer secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if key, err := crypto.LoadOrCreateKey(path); key != "a longer secret" || err != nil {
		t.Error(key, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}
