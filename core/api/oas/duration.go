package oas

import (
	"math"
	"strconv"
	"time"
)

// ParseDuration parses a duration text leniently: an invalid text is zero, decimal parts such
// as "1.5s" are accepted (docs/wire/extension.md#durations).
func ParseDuration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0
	}
	return d
}

var units = []struct {
	name string
	size uint64
}{
	{"h", uint64(time.Hour)},
	{"m", uint64(time.Minute)},
	{"s", uint64(time.Second)},
	{"ms", uint64(time.Millisecond)},
	{"µs", uint64(time.Microsecond)},
	{"ns", uint64(time.Nanosecond)},
}

// FormatDuration formats a duration in whole numbers, largest unit first, without parts that
// are zero; zero is "0s" (docs/wire/extension.md#durations).
func FormatDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	var b []byte
	rest := uint64(d)
	if d < 0 {
		b, rest = append(b, '-'), -rest
	}
	for _, u := range units {
		if n := rest / u.size; n > 0 {
			b = append(strconv.AppendUint(b, n, 10), u.name...)
			rest -= n * u.size
		}
	}
	return string(b)
}

// RoundUpSeconds returns the seconds of a duration. Positive ones are rounded up, negative
// ones towards zero (docs/wire/conversion.md#traps).
func RoundUpSeconds(d time.Duration) int64 {
	n := int64(d / time.Second)
	if d > time.Duration(n)*time.Second {
		n++
	}
	return n
}

// seconds returns a duration of n seconds, limited to the range of a duration.
func seconds(n int64) time.Duration {
	const most = int64(math.MaxInt64 / time.Second)
	return time.Duration(min(max(n, -most), most)) * time.Second
}
