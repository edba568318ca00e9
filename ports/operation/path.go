package operation

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/redact"
)

// Placeholder returns the name of a path segment that stands for a value.
func Placeholder(segment string) (string, bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}

// Shown returns the path of the call as logs and trails may have it: the segments of
// those placeholders are hidden whose names hold secrets. They are found by their places:
// a short value would also be found where it is none, and the gaps would tell it.
func (c *Call) Shown(hides func(name string) bool) string {
	segments, row := strings.Split(c.RawPath, "/"), strings.Split(c.Spec.Path, "/")
	for i, segment := range row[:min(len(row), len(segments))] {
		name, ok := Placeholder(segment)
		if !ok || segments[i] == "" || !hides(name) {
			continue
		}
		segments[i] = redact.Hidden
		if c.Spec.Tail && i == len(row)-1 {
			segments = segments[:i+1]
		}
	}
	return strings.Join(segments, "/")
}
