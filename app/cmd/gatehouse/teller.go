package main

import (
	"errors"
	"fmt"
	"io"
)

// teller is the output of a command. It remembers errors of writes, for example on a
// full disk, so that a command that ignores them fails nevertheless.
type teller struct {
	w      io.Writer
	failed error
}

// Write implements io.Writer.
func (t *teller) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	if err != nil && t.failed == nil {
		t.failed = err
	}
	return n, err
}

// complete returns the error of a command, or an error that says that some of its
// output is missing.
func (t *teller) complete(err error) error {
	if t.failed == nil {
		return err
	}
	missing := fmt.Errorf("not all results could be printed, and what the command did before is done: %w", t.failed)
	if err == nil || err == t.failed { //nolint:errorlint // a wrapped one has a text of its own, which is kept
		return missing
	}
	return errors.Join(err, missing)
}
