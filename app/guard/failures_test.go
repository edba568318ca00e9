package guard_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// gate is a guard whose surfaces accept the credential "right".
type gate struct {
	now time.Time
	log bytes.Buffer
	do  operation.Middleware
}

func newGate(limit int) *gate {
	g := &gate{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	log := slog.New(slog.NewTextHandler(&g.log, nil))
	who := func(refusal error) guard.Authenticator {
		return func(_ context.Context, c *operation.Call) error {
			if c.Token != "right" {
				return refusal
			}
			return nil
		}
	}
	g.do = guard.New(guard.Config{
		Authenticators: map[operation.Surface]guard.Authenticator{
			operation.Management: who(guard.Unauthenticated()), operation.Admin: who(guard.Unauthenticated()), operation.Portal: who(guard.Unauthenticated()),
			operation.Node: who(fault.New(fault.Denied, guard.CodeNodeSecret, "Not authorised")),
		},
		Rules: rules.BuiltIn{}, Audit: guard.Log(slog.New(slog.DiscardHandler)),
		Failures: &guard.Failures{Limit: limit, Now: func() time.Time { return g.now }, Log: log},
	})
	return g
}

func (g *gate) call(s operation.Surface, remote, token string) fault.Kind {
	next := func(context.Context, *operation.Call) (any, error) { return nil, nil }
	_, err := g.do(next)(context.Background(), &operation.Call{Spec: &operation.Spec{Surface: s, Intent: "read", Permission: "any"}, Remote: remote, Token: token})
	if err == nil {
		return 0
	}
	return fault.KindOf(err)
}

func TestWrongCredentialsAreLimited(t *testing.T) {
	for surface, refused := range map[operation.Surface]fault.Kind{operation.Management: fault.Unauthenticated, operation.Admin: fault.Unauthenticated, operation.Portal: fault.Unauthenticated, operation.Node: fault.Denied} {
		g := newGate(3)
		for n := range 3 {
			if k := g.call(surface, fmt.Sprintf("192.0.2.1:%d", 1000+n), "wrong"); k != refused {
				t.Fatalf("%s: call %d: %v", surface, n, k)
			}
		}
		for range 3 {
			if k := g.call(surface, "192.0.2.1:9", "wrong"); k != fault.TooMany {
				t.Errorf("%s: over the limit: %v", surface, k)
			}
		}
		if k := g.call(surface, "192.0.2.1:9", "right"); k == fault.TooMany || k == refused && surface != operation.Management {
			t.Errorf("%s: a right credential is locked out: %v", surface, k)
		}
		if k := g.call(surface, "192.0.2.2:9", "wrong"); k != refused {
			t.Errorf("%s: another address: %v", surface, k)
		}
		if k := g.call(surface, "192.0.2.1:9", ""); k != refused {
			t.Errorf("%s: no credential is no guess: %v", surface, k)
		}
		if n := strings.Count(g.log.String(), "many wrong credentials"); n != 1 || strings.Contains(g.log.String(), "token") {
			t.Errorf("%s: %d warnings: %s", surface, n, &g.log)
		}
		g.now = g.now.Add(time.Minute)
		if k := g.call(surface, "192.0.2.1:9", "wrong"); k != refused {
			t.Errorf("%s: a minute later: %v", surface, k)
		}
	}
}

func TestWhatCountsAsOneAddress(t *testing.T) {
	for _, c := range []struct {
		first, second string
		same          bool
	}{
		{"[2001:db8:1:2::1]:1", "[2001:db8:1:2:ffff::9]:2", true},
		{"[2001:db8:1:2::1]:1", "[2001:db8:1:3::1]:1", false},
		{"192.0.2.1:1", "[::ffff:192.0.2.1]:2", true},
		{"192.0.2.1", "192.0.2.1:7", true},
		{"[fe80::1%eth0]:1", "[fe80::2%eth1]:1", true},
		{"", "", false},
		{"@", "@", false},
	} {
		g := newGate(1)
		g.call(operation.Admin, c.first, "wrong")
		if same := g.call(operation.Admin, c.second, "wrong") == fault.TooMany; same != c.same {
			t.Errorf("%s and %s: %v", c.first, c.second, same)
		}
	}
	g := newGate(0)
	for range 5000 {
		if k := g.call(operation.Admin, "192.0.2.1:1", "wrong"); k != fault.Unauthenticated {
			t.Fatal("0 is no limit", k)
		}
	}
}

// Many addresses do not use more and more memory, and do not reset the count of an
// address that goes on.
func TestManyAddresses(t *testing.T) {
	f := &guard.Failures{Limit: 1, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	for i := range 50_000 {
		f.Add(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255))
	}
	if n := f.Len(); n > 10_000 {
		t.Errorf("%d addresses", n)
	}
}
