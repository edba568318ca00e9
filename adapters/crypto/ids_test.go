package crypto_test

import (
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 999_999_999, time.UTC)

func TestNewIDShape(t *testing.T) {
	id := crypto.NewID(func() time.Time { return noon })()
	b, err := hex.DecodeString(id)
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{24}$`).MatchString(id) {
		t.Fatalf("%q is not 24 lower-case hex digits", id)
	}
	if got := int64(binary.BigEndian.Uint32(b)); got != noon.Unix() {
		t.Errorf("seconds %d, want %d", got, noon.Unix())
	}
	if fraction := hex.EncodeToString(b[4:7]); fraction != "ffffff" {
		t.Errorf("fraction %s of the last nanosecond of a second", fraction)
	}
	if other := crypto.NewID(func() time.Time { return noon })(); other[:14] != id[:14] || other[14:] == id[14:] {
		t.Errorf("two processes at the same instant: %s, %s", id, other)
	}
}

// TestNewIDIncreases gives clocks that do not always advance.
func TestNewIDIncreases(t *testing.T) {
	for name, step := range map[string]time.Duration{
		"standing still":     0,
		"going back":         -time.Millisecond,
		"by a nanosecond":    time.Nanosecond,
		"by a second":        time.Second,
		"by more than a day": 25 * time.Hour,
	} {
		at := noon
		next := crypto.NewID(func() time.Time { at = at.Add(step); return at })
		prev := ""
		for range 2000 {
			id := next()
			if id <= prev {
				t.Fatalf("clock %s: %s after %s", name, id, prev)
			}
			prev = id
		}
	}
}

func TestNewIDBeforeTime(t *testing.T) {
	next := crypto.NewID(func() time.Time { return time.Time{} })
	if one, two := next(), next(); one >= two || one[:12] != "000000000000" {
		t.Errorf("zero clock: %s, %s", one, two)
	}
}

func TestNewIDConcurrently(t *testing.T) {
	const workers, each = 8, 500
	next := crypto.NewID(time.Now)
	made := make([][]string, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for range each {
				made[w] = append(made[w], next())
			}
		})
	}
	wg.Wait()
	for w, ids := range made {
		if !slices.IsSorted(ids) {
			t.Errorf("worker %d saw identifiers out of order", w)
		}
	}
	all := slices.Concat(made...)
	slices.Sort(all)
	if got := len(slices.Compact(all)); got != workers*each {
		t.Errorf("%d different identifiers, want %d", got, workers*each)
	}
}

func TestNewUUID(t *testing.T) {
	shape := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := crypto.NewUUID()
		if !shape.MatchString(id) || seen[id] {
			t.Fatalf("%q is malformed or repeated", id)
		}
		seen[id] = true
	}
}

func BenchmarkNewID(b *testing.B) {
	next := crypto.NewID(time.Now)
	b.ReportAllocs()
	for b.Loop() {
		next()
	}
}
