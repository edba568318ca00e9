package main

import (
	"context"
	"maps"
	"math"
	"strings"
	"testing"
	"time"
)

func TestTasksWorkTwice(t *testing.T) {
	c, err := newCatalogue(t.Context(), 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if c.perAPI == 0 { // with only 20 APIs, other memory that the process frees weighs as much
		t.Error("nobody weighed the APIs")
	}
	for _, task := range tasks {
		for n := range 2 {
			one := task.contestant(c)
			if err := one.do(t.Context(), 0, n); err != nil {
				t.Fatalf("%s: %v", task.figure, err)
			}
			if one.between != nil {
				if err := one.between(t.Context(), n); err != nil {
					t.Fatalf("%s, between: %v", task.figure, err)
				}
			}
		}
	}
	if err := c.ask(t.Context(), "GET", "/api/apis/nowhere", ""); err == nil || !strings.Contains(err.Error(), "answer 400") {
		t.Errorf("a refusal is %v", err)
	}
}

func TestCatalogueTable(t *testing.T) {
	all := []*catalogue{{size: 100}, {size: 1_000}, {size: 10_000, perAPI: 20_000}, {size: 100_000, perAPI: 20_000}}
	var results []series
	for range tasks {
		results = append(results, series{rates: []float64{400}}, series{rates: []float64{300}}, series{rates: []float64{100}}, series{rates: []float64{100.0 / 3}})
	}
	aims := map[string]int{}
	for _, r := range catalogueTable(all, results) {
		if r.aim == nil {
			continue
		}
		aims[r.aim.String()]++
		if linear := strings.HasPrefix(r.aim.String(), "≤ 15"); r.aim.met() != linear || r.unit == "ms" && math.Abs(r.ratios[0].times-3) > 1e-9 {
			t.Errorf("%s: %v, %v", r.figure, r.aim, r.ratios)
		}
	}
	if !maps.Equal(aims, map[string]int{"≤ 1.5 × time at 1,000": 4, "≤ 15 × time at 1,000": 5, "≤ 1.5 × time at 10,000": 4, "≤ 15 × time at 10,000": 5, "≤ 12 kB": 2}) {
		t.Errorf("aims: %v; want one for each page of a list, for each list with a filter, and for memory", aims)
	}
}

func TestBetweenTakesNoTime(t *testing.T) {
	times := 0
	c := contestant{do: func(context.Context, int, int) error { return nil }, between: func(context.Context, int) error {
		times++
		time.Sleep(time.Millisecond)
		return nil
	}}
	rate, _, err := c.work(t.Context(), 10*time.Millisecond, make([]int, 1))
	if err != nil || times == 0 || rate < 10*1000 {
		t.Errorf("%v per second after %d times, %v", rate, times, err)
	}
}
