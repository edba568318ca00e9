package observe_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/observe"
)

type path struct{}

// diary records the calls to one observer.
type diary struct {
	name  string
	lines *[]string
}

func (d diary) Begin(ctx context.Context, operation string) (context.Context, func(int)) {
	before, _ := ctx.Value(path{}).(string)
	*d.lines = append(*d.lines, fmt.Sprintf("%s begins %s after %q", d.name, operation, before))
	return context.WithValue(ctx, path{}, before+d.name), func(status int) {
		*d.lines = append(*d.lines, fmt.Sprintf("%s ends %d", d.name, status))
	}
}

func TestJoin(t *testing.T) {
	var lines []string
	all := observe.Join(diary{"a", &lines}, diary{"b", &lines})
	ctx, end := all.Begin(t.Context(), "users.list")
	end(404)
	want := []string{`a begins users.list after ""`, `b begins users.list after "a"`, "b ends 404", "a ends 404"}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	if got := ctx.Value(path{}); got != "ab" {
		t.Errorf("the operation runs in the context of %q", got)
	}
}

func TestJoinNone(t *testing.T) {
	ctx, end := observe.Join().Begin(t.Context(), "users.list")
	end(200)
	if ctx != t.Context() {
		t.Error("without an observer the context changed")
	}
}
