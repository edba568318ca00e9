package main

import (
	"context"
	"testing"
	"time"
)

// TestShowroom opens each measured page.
func TestShowroom(t *testing.T) {
	s, err := newShowroom(t.Context(), pageSize{8, 2, 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for _, p := range measured {
		all, err := s.read(t.Context(), time.Millisecond, p.path)
		if err != nil || len(all) < 2 {
			t.Errorf("%s: %v %v", p.name, all, err)
		}
		if kb, err := s.weight(p.path); err != nil || kb < 1 || kb > mostWeight {
			t.Errorf("%s weighs %v kB: %v", p.name, kb, err)
		}
	}
}
