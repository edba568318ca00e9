package crypto

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// LoadOrCreateKey returns the secret in a file, without surrounding white space, and
// restricts the file to its owner if it can. If the file does not exist, LoadOrCreateKey
// creates it with 32 random bytes in hex, readable by its owner only; the folder must exist.
// When several processes start at once, one creates the file and all return the same secret.
// An empty file is an error: a new secret could make unreadable what the lost secret
// protects.
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

// leastKey is the length in bytes of the shortest key that a file may hold. Keys made here
// have 64 characters; a shorter text than leastKey comes from a failing disk or a mistaken
// edit.
const leastKey = 8

func readKey(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("crypto: read key file: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(path, 0o600) // a mounted secret cannot be changed, and its permissions are not up to this process
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

// KeepKey writes a key back into its file when the file is gone, and reports whether it did.
// A file that holds another key is an error, and stays as it is.
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

// createKey creates the file in one step: a hard link to a complete, synced file, which fails
// with fs.ErrExist if the name is taken. No process ever reads half a secret, and no crash
// leaves half a secret behind.
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
	if d, err := os.Open(filepath.Dir(path)); err == nil { // the new name survives a crash, where the file system supports that
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}
