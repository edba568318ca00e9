package crypto

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// LoadOrCreateKey returns the secret in a file, without surrounding white space,
// and makes the file its owner's alone if it can.
// If there is no such file it makes one with 32 random bytes in hex, readable by
// its owner only; the folder must exist. Of several processes that start at once
// one makes the file and all return the same secret. An empty file is an error:
// replacing it could orphan what the lost secret protects.
func LoadOrCreateKey(path string) (string, error) {
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := createKey(path, randomHex(32)); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("crypto: create key file: %w", err)
	}
	return readKey(path)
}

// leastKey is the length of the shortest key that a file may hold. Those made here have
// 64 characters; less than this is what a failing disk or a hasty hand has left.
const leastKey = 8

func readKey(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("crypto: read key file: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(path, 0o600) // a mounted secret cannot be changed, and is not ours to guard
	}
	key := strings.TrimSpace(string(text))
	if key == "" {
		return "", fmt.Errorf("crypto: key file %s is empty; restore it, or delete it if it never protected anything", path)
	}
	if len(key) < leastKey {
		return "", fmt.Errorf("crypto: key file %s holds less than a key; restore it", path)
	}
	return key, nil
}

// KeepKey puts a key back into its file when that is gone, and reports whether it did. A file
// that holds another key is an error, and stays.
func KeepKey(path, key string) (back bool, err error) {
	have, err := readKey(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = createKey(path, key)
		return err == nil, err
	case err == nil && have != key:
		err = errors.New("crypto: the key file holds another key than the one in use")
	}
	return false, err
}

// createKey makes the file in one step that fails with fs.ErrExist if there is
// one: a hard link to a complete, synced file. No process ever reads half a secret,
// and no crash leaves one behind.
func createKey(path, key string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-key-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(key + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil {
		return err
	}
	if d, err := os.Open(filepath.Dir(path)); err == nil { // the new name lasts, where the file system knows how
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}
