package fault_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// TestKinds: every kind has a unique name. Codes and log lines contain these names, so they
// must not change.
func TestKinds(t *testing.T) {
	want := map[fault.Kind]string{
		fault.Internal: "internal", fault.Invalid: "invalid", fault.Unauthenticated: "unauthenticated", fault.Denied: "denied",
		fault.NotFound: "not_found", fault.Conflict: "conflict", fault.Stale: "stale", fault.Unavailable: "unavailable",
		fault.TooLarge: "too_large", fault.TooMany: "too_many", fault.TooSlow: "too_slow",
	}
	kinds := fault.Kinds()
	if len(kinds) != len(want) {
		t.Errorf("%d kinds are listed, %d are known", len(kinds), len(want))
	}
	for _, k := range kinds {
		if k.String() != want[k] || k.String() == "" {
			t.Errorf("kind %d is called %q, not %q", k, k, want[k])
		}
	}
	if beyond := fault.Kind(len(kinds)); beyond.String() != "internal" {
		t.Errorf("a kind that does not exist is called %q", beyond)
	}
}

// TestRefuses: failures of the service are no refusals.
func TestRefuses(t *testing.T) {
	no := map[fault.Kind]bool{fault.Internal: true, fault.Stale: true, fault.Unavailable: true}
	for _, k := range fault.Kinds() {
		if fault.Refuses(fmt.Errorf("store: %w", fault.New(k, "", "x"))) == no[k] {
			t.Error(k)
		}
	}
	if fault.Refuses(nil) || fault.Refuses(errors.New("disk full")) {
		t.Error("no fault refuses")
	}
}

// TestMessages: all messages of a fault are returned, as a copy.
func TestMessages(t *testing.T) {
	several := fault.Several(fault.Invalid, "x", []string{"a is blank", "b is taken"})
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"none": {nil, nil}, "no fault": {errors.New("disk full"), nil}, "one": {fault.New(fault.Conflict, "x", "b is taken"), []string{"b is taken"}},
		"several": {fmt.Errorf("store: %w", several), []string{"a is blank", "b is taken"}},
	} {
		if got := fault.Messages(c.err); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	fault.Messages(several)[0] = "changed"
	if several.All[0] != "a is blank" {
		t.Error("the fault has changed")
	}
}

// TestTree: the outermost fault of a tree of errors counts.
func TestTree(t *testing.T) {
	plain := errors.New("disk full")
	inner := fault.New(fault.Conflict, "api.slug", "taken")
	outer := fault.New(fault.Unavailable, "", "try later").Because(inner)
	for name, c := range map[string]struct {
		err  error
		kind fault.Kind
		code string
	}{
		"no error":                     {nil, fault.Internal, "internal"},
		"an error that is no fault":    {plain, fault.Internal, "internal"},
		"a fault":                      {inner, fault.Conflict, "api.slug"},
		"a wrapped fault":              {fmt.Errorf("store: %w", inner), fault.Conflict, "api.slug"},
		"a fault without code":         {fault.New(fault.Denied, "", "no"), fault.Denied, "denied"},
		"a fault because of a fault":   {outer, fault.Unavailable, "unavailable"},
		"a fault because of an error":  {inner.Because(plain), fault.Conflict, "api.slug"},
		"the first of joined errors":   {errors.Join(plain, inner, outer), fault.Conflict, "api.slug"},
		"a fault of a kind from later": {&fault.Error{Kind: 200}, 200, "internal"},
	} {
		if got := fault.KindOf(c.err); got != c.kind {
			t.Errorf("%s: kind %v", name, got)
		}
		if got := fault.CodeOf(c.err); got != c.code {
			t.Errorf("%s: code %q", name, got)
		}
	}
}

// TestCopies: At and Because do not change their receiver. Some faults are package variables,
// so changes by one request would reach others.
func TestCopies(t *testing.T) {
	cause := errors.New("connection refused to 10.0.0.7")
	base := fault.New(fault.Invalid, "hook.url", "%q is no address", "x")
	before := *base
	full := base.At("url").Because(cause)
	if !reflect.DeepEqual(*base, before) {
		t.Errorf("the original became %+v", *base)
	}
	if want := (fault.Error{Kind: fault.Invalid, Code: "hook.url", Message: `"x" is no address`, Field: "url", Err: cause}); !reflect.DeepEqual(*full, want) {
		t.Errorf("the copy is %+v", *full)
	}
	if full.Message != base.Message {
		t.Errorf("the cause reached the message that clients see: %q", full.Message)
	}
	if got := full.Error(); got != `"x" is no address: connection refused to 10.0.0.7` {
		t.Errorf("logs see %q", got)
	}
	if got := base.Error(); got != base.Message {
		t.Errorf("without a cause logs see %q", got)
	}
	if !errors.Is(full, cause) || errors.Unwrap(base) != nil {
		t.Error("the cause cannot be found")
	}
}

// TestAbsentFine: only the absence of a record is a success.
func TestAbsentFine(t *testing.T) {
	absent, taken := fault.New(fault.NotFound, "api.absent", "no such API"), fault.New(fault.Conflict, "api.slug", "taken")
	for _, err := range []error{nil, absent, fmt.Errorf("removing: %w", absent)} {
		if got := fault.AbsentFine(err); got != nil {
			t.Errorf("%v is no success: %v", err, got)
		}
	}
	for _, err := range []error{taken, taken.Because(absent), io.EOF} {
		if got := fault.AbsentFine(err); !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
}
