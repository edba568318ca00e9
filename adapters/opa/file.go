package opa

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

//go:embed default.rego
var defaultRules string

// DefaultRules returns the rules that apply when there are no others: the
// permission map decides (docs/wire/rules.md#default-set). They are Rego version 0.
func DefaultRules() string { return defaultRules }

// loadFixed reads and compiles the rules for organisations without their own.
func (e *Engine) loadFixed() (text string, err error) {
	text = defaultRules
	if e.cfg.File != "" {
		if text, err = e.readFile(); e.cfg.Later && errors.Is(err, fs.ErrNotExist) {
			text, err = defaultRules, nil
		}
		if err != nil {
			return "", err
		}
	}
	set, err := e.compile(text, true)
	if err != nil && e.cfg.File != "" {
		return "", fmt.Errorf("file %s: %w", e.cfg.File, err)
	}
	e.fixed.Store(set)
	return text, err
}

func (e *Engine) readFile() (string, error) {
	b, err := os.ReadFile(e.cfg.File)
	if err != nil {
		return "", fmt.Errorf("opa: rules file: %w", err)
	}
	return string(b), nil
}

// Run watches the rules file for changes until ctx ends, and returns ctx's error.
// Unusable rules are logged; the previous rules stay in force.
func (e *Engine) Run(ctx context.Context) error {
	if e.cfg.File == "" {
		<-ctx.Done()
		return ctx.Err()
	}
	tick := time.NewTicker(e.cfg.Poll)
	defer tick.Stop()
	// The last text of the file and the last error about it, so that nothing is
	// compiled or logged twice.
	seen, complaint := e.fileText, ""
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		text, err := e.readFile()
		if e.cfg.Later && seen == defaultRules && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && text == seen {
			complaint = ""
			continue
		}
		var set *ruleSet
		if err == nil {
			seen = text
			set, err = e.compile(text, true)
		}
		log := e.cfg.Logger.With("file", e.cfg.File)
		switch {
		case err == nil:
			e.fixed.Store(set)
			complaint = ""
			log.Info("changed rules are in force")
		case err.Error() != complaint:
			complaint = err.Error()
			log.Error("changed rules cannot be used; those before them stay in force", "error", err)
		}
	}
}
