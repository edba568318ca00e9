package remote_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/gateway/remote"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/gateway/gatewaytest"
)

const (
	there  = "5b30e703029749b9bad23d9c53baf6e8" // the identifier of an existing key
	absent = "6b30e703029749b9bad23d9c53baf6e9"
	rights = `{"apply_policies":["gold"],"alias":"ours"}`
)

// scene is an installation with one object of each kind, whose gateways misbehave later.
type scene struct {
	installation
	pair   gatewaytest.Pair
	cert   string // identifier of an existing certificate
	sound  gateway.Control
	shaken func() gateway.Control // a new client, which has recorded no failures
}

func newScene(t *testing.T, n int, patience time.Duration) scene {
	t.Helper()
	s := scene{installation: start(t, n, nil), pair: gatewaytest.NewPair(t, "new.example")}
	s.sound = s.client(nil).Control()
	s.shaken = func() gateway.Control {
		return s.client(func(c *remote.Config) { c.Timeout = patience }).Control()
	}
	ctx := t.Context()
	if _, err := s.sound.Keys.CreateKey(ctx, gatewaytest.Org, there, node(rights)); err != nil {
		t.Fatal(err)
	}
	if err := s.sound.Clients.PutClient(ctx, gatewaytest.Org, "orders", gateway.Client{ID: "shop", Secret: "s", Policy: "gold"}); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.cert, err = s.sound.Certificates.AddCertificate(ctx, gatewaytest.Org, gatewaytest.NewPair(t, "old.example").Certificate); err != nil {
		t.Fatal(err)
	}
	if err := s.sound.Installation.PutOrgKey(ctx, gatewaytest.Org, node(`{"rate":1}`)); err != nil {
		t.Fatal(err)
	}
	return s
}

func node(text string) *doc.Node {
	n, err := doc.ParseNode([]byte(text))
	if err != nil {
		panic(err)
	}
	return n
}

func byID(id string) gateway.KeyName { return gateway.KeyName{Text: id, By: gateway.ByKey} }

// reads are the calls that change nothing.
var reads = map[string]func(context.Context, scene, gateway.Control) error{
	"a key": func(ctx context.Context, _ scene, c gateway.Control) error {
		k, err := c.Keys.Key(ctx, gatewaytest.Org, byID(there))
		return right(err, k.Session.Get("alias").Text() == "ours")
	},
	"keys": func(ctx context.Context, _ scene, c gateway.Control) error {
		list, err := c.Keys.Keys(ctx, gatewaytest.Org, "")
		return right(err, len(list) == 1)
	},
	"a preview": func(ctx context.Context, _ scene, c gateway.Control) error {
		n, err := c.Keys.PreviewKey(ctx, gatewaytest.Org, node(rights))
		return right(err, n.Get("rate").Int() == 100)
	},
	"a client": func(ctx context.Context, _ scene, c gateway.Control) error {
		cl, err := c.Clients.Client(ctx, gatewaytest.Org, gateway.ClientName{API: "orders", ID: "shop"})
		return right(err, cl.Policy == "gold")
	},
	"clients": func(ctx context.Context, _ scene, c gateway.Control) error {
		list, err := c.Clients.ListClients(ctx, gatewaytest.Org, "orders")
		return right(err, len(list) == 1)
	},
	"the APIs of a client": func(ctx context.Context, _ scene, c gateway.Control) error {
		list, err := c.Clients.ClientAPIs(ctx, gatewaytest.Org, "shop")
		return right(err, len(list) == 1)
	},
	"tokens": func(ctx context.Context, _ scene, c gateway.Control) error {
		_, err := c.Clients.ClientTokens(ctx, gatewaytest.Org, gateway.ClientName{API: "orders", ID: "shop"})
		return err
	},
	"a certificate": func(ctx context.Context, s scene, c gateway.Control) error {
		m, err := c.Certificates.Certificate(ctx, gatewaytest.Org, s.cert)
		return right(err, m.ID == s.cert)
	},
	"some certificates": func(ctx context.Context, s scene, c gateway.Control) error {
		list, err := c.Certificates.Certificates(ctx, gatewaytest.Org, []string{s.cert})
		return right(err, len(list) == 1)
	},
	"certificates": func(ctx context.Context, _ scene, c gateway.Control) error {
		list, err := c.Certificates.ListCertificates(ctx, gatewaytest.Org)
		return right(err, len(list) == 1)
	},
	"the key of an organisation": func(ctx context.Context, _ scene, c gateway.Control) error {
		n, err := c.Installation.OrgKey(ctx, gatewaytest.Org)
		return right(err, n.Get("rate").Int() == 1)
	},
	"the keys of organisations": func(ctx context.Context, _ scene, c gateway.Control) error {
		list, err := c.Installation.OrgKeys(ctx)
		return right(err, len(list) == 1)
	},
	"a reload": func(ctx context.Context, _ scene, c gateway.Control) error { return c.Installation.Reload(ctx) },
}

var errWrong = errors.New("a wrong answer")

func right(err error, ok bool) error {
	if err == nil && !ok {
		return errWrong
	}
	return err
}

// How a write looks up whether it has arrived.
const (
	looked   = iota // it looks
	repeated        // it does not: the write is repeated
	once            // it cannot
)

// write is a call that changes something.
type write struct {
	way  int
	do   func(context.Context, scene, gateway.Control) error
	made func(context.Context, scene) bool // whether it has arrived
}

var writes = map[string]write{
	"create a key": {looked, func(ctx context.Context, _ scene, c gateway.Control) error {
		k, err := c.Keys.CreateKey(ctx, gatewaytest.Org, absent, node(rights))
		return right(err, k.ID != "" && k.Hash != "" && k.Session.Get("alias").Text() == "ours")
	}, func(ctx context.Context, s scene) bool { return keyHas(ctx, s, absent, "ours") }},
	"store a key anew": {looked, func(ctx context.Context, _ scene, c gateway.Control) error {
		_, err := c.Keys.CreateKey(ctx, gatewaytest.Org, there, node(strings.Replace(rights, "ours", "new", 1)))
		return err
	}, func(ctx context.Context, s scene) bool { return keyHas(ctx, s, there, "new") }},
	"create a key without a name": {once, func(ctx context.Context, _ scene, c gateway.Control) error {
		_, err := c.Keys.CreateKey(ctx, gatewaytest.Org, "", node(rights))
		return err
	}, func(_ context.Context, s scene) bool { return s.store.Keys() > 1 }},
	"create the key of a certificate": {looked, func(ctx context.Context, s scene, c gateway.Control) error {
		_, err := c.Keys.CreateKey(ctx, gatewaytest.Org, "", node(`{"apply_policies":["gold"],"certificate":"`+s.cert+`"}`))
		return err
	}, func(_ context.Context, s scene) bool { return s.store.Keys() > 1 }},
	"replace a key": {looked, func(ctx context.Context, _ scene, c gateway.Control) error {
		_, err := c.Keys.ReplaceKey(ctx, gatewaytest.Org, byID(there), node(strings.Replace(rights, "ours", "new", 1)), false)
		return err
	}, func(ctx context.Context, s scene) bool { return keyHas(ctx, s, there, "new") }},
	"delete a key": {looked, func(ctx context.Context, _ scene, c gateway.Control) error {
		return c.Keys.DeleteKey(ctx, gatewaytest.Org, byID(there))
	}, func(_ context.Context, s scene) bool { return s.store.Keys() == 0 }},
	"store a client": {repeated, func(ctx context.Context, _ scene, c gateway.Control) error {
		return c.Clients.PutClient(ctx, gatewaytest.Org, "orders", gateway.Client{ID: "new", Secret: "s"})
	}, func(ctx context.Context, s scene) bool {
		_, err := s.sound.Clients.Client(ctx, gatewaytest.Org, gateway.ClientName{API: "orders", ID: "new"})
		return err == nil
	}},
	"delete a client": {repeated, func(ctx context.Context, _ scene, c gateway.Control) error {
		return c.Clients.DeleteClient(ctx, gatewaytest.Org, gateway.ClientName{API: "orders", ID: "shop"})
	}, func(ctx context.Context, s scene) bool {
		_, err := s.sound.Clients.Client(ctx, gatewaytest.Org, gateway.ClientName{API: "orders", ID: "shop"})
		return errors.Is(err, gateway.ErrUnknown)
	}},
	"revoke a token": {repeated, func(ctx context.Context, _ scene, c gateway.Control) error {
		return c.Clients.RevokeToken(ctx, gatewaytest.Org, "shop", "token", "")
	}, nil},
	"revoke tokens": {repeated, func(ctx context.Context, _ scene, c gateway.Control) error {
		return c.Clients.RevokeTokens(ctx, gatewaytest.Org, "shop", "s")
	}, nil},
	"add a certificate": {repeated, func(ctx context.Context, s scene, c gateway.Control) error {
		id, err := c.Certificates.AddCertificate(ctx, gatewaytest.Org, s.pair.Certificate)
		return right(err, id == string(gatewaytest.Org)+s.pair.Fingerprint)
	}, func(ctx context.Context, s scene) bool {
		_, err := s.sound.Certificates.Certificate(ctx, gatewaytest.Org, string(gatewaytest.Org)+s.pair.Fingerprint)
		return err == nil
	}},
	"delete a certificate": {repeated, func(ctx context.Context, s scene, c gateway.Control) error {
		return c.Certificates.DeleteCertificate(ctx, gatewaytest.Org, s.cert)
	}, func(ctx context.Context, s scene) bool {
		_, err := s.sound.Certificates.Certificate(ctx, gatewaytest.Org, s.cert)
		return errors.Is(err, gateway.ErrUnknown)
	}},
	"store the key of an organisation": {repeated, func(ctx context.Context, _ scene, c gateway.Control) error {
		return c.Installation.PutOrgKey(ctx, gatewaytest.Other, node(`{"rate":2}`))
	}, func(ctx context.Context, s scene) bool {
		_, err := s.sound.Installation.OrgKey(ctx, gatewaytest.Other)
		return err == nil
	}},
	"delete the key of an organisation": {looked, func(ctx context.Context, _ scene, c gateway.Control) error {
		return c.Installation.DeleteOrgKey(ctx, gatewaytest.Org)
	}, func(ctx context.Context, s scene) bool {
		_, err := s.sound.Installation.OrgKey(ctx, gatewaytest.Org)
		return errors.Is(err, gateway.ErrUnknown)
	}},
}

func keyHas(ctx context.Context, s scene, id, alias string) bool {
	k, err := s.sound.Keys.Key(ctx, gatewaytest.Org, byID(id))
	return err == nil && k.Session.Get("alias").Text() == alias
}

// silent fails the test if an error contains a secret.
func silent(t *testing.T, err error) {
	t.Helper()
	for _, hidden := range []string{secret, there, absent} {
		if err != nil && strings.Contains(err.Error(), hidden) {
			t.Errorf("the error holds a secret: %v", err)
		}
	}
}

// changes reports whether a request changes something at a gateway.
func changes(r *http.Request) bool { return r.Method != http.MethodGet }

// each runs a test for every fault, concurrently: they mostly wait.
func each(t *testing.T, test func(t *testing.T, fault gatewaysim.Fault, patience time.Duration)) {
	t.Helper()
	for _, fault := range gatewaysim.Faults {
		t.Run(faultNames[fault], func(t *testing.T) {
			t.Parallel()
			patience := time.Minute // so long that the deadline does not decide the outcome
			if slices.Contains([]gatewaysim.Fault{gatewaysim.Hanging, gatewaysim.HangsAfter, gatewaysim.Slow}, fault) {
				patience = 8 * time.Second
			}
			test(t, fault, patience)
		})
	}
}

// TestFaultsOfReads: a read that fails at the only gateway is unreachable; with a second
// gateway, the read goes there.
func TestFaultsOfReads(t *testing.T) {
	each(t, func(t *testing.T, fault gatewaysim.Fault, patience time.Duration) {
		one, two := newScene(t, 1, patience/4), newScene(t, 2, patience)
		one.gateways[0].Misbehave(fault, nil)
		two.gateways[0].Misbehave(fault, nil)
		var tasks sync.WaitGroup
		for name, read := range reads {
			tasks.Go(func() {
				err := read(t.Context(), one, one.shaken())
				silent(t, err)
				if !errors.Is(err, gateway.ErrUnreachable) {
					t.Errorf("%s from the only gateway: %v", name, err)
				}
			})
			tasks.Go(func() {
				if err := read(t.Context(), two, two.shaken()); err != nil {
					t.Errorf("%s from one of two: %v", name, err)
				}
			})
		}
		tasks.Wait()
	})
}

var faultNames = map[gatewaysim.Fault]string{
	gatewaysim.Down: "down", gatewaysim.Hanging: "hanging", gatewaysim.Slow: "slow", gatewaysim.Garbage: "garbage", gatewaysim.PlainText: "plain text",
	gatewaysim.HalfJSON: "half an answer", gatewaysim.Trouble: "500", gatewaysim.Unwired: "another server", gatewaysim.Endless: "endless answers",
	gatewaysim.DiesBefore: "death before", gatewaysim.DiesAfter: "death after", gatewaysim.HangsAfter: "hanging after",
}

// expected returns the outcome of a write whose requests fail at the only gateway: the
// error, and whether the write has arrived.
func expected(fault gatewaysim.Fault, way int) (err error, made bool) {
	switch arrives := slices.Contains([]gatewaysim.Fault{gatewaysim.HalfJSON, gatewaysim.DiesAfter, gatewaysim.HangsAfter}, fault); {
	case fault == gatewaysim.Unwired:
		return gateway.ErrUnreachable, false
	case arrives && way == looked:
		return nil, true
	default:
		return gateway.ErrUncertain, arrives
	}
}

// TestFaultsOfWrites: each fault of the only gateway, for each write.
func TestFaultsOfWrites(t *testing.T) {
	each(t, func(t *testing.T, fault gatewaysim.Fault, patience time.Duration) {
		var tasks sync.WaitGroup
		for name, w := range writes {
			s := newScene(t, 1, patience)
			s.gateways[0].Misbehave(fault, changes)
			tasks.Go(func() { s.meets(t, name, fault, w) })
		}
		tasks.Wait()
	})
}

// meets makes a write that fails, and repeats it when the gateway works.
func (s scene) meets(t *testing.T, name string, fault gatewaysim.Fault, w write) {
	want, made := expected(fault, w.way)
	err := w.do(t.Context(), s, s.shaken())
	silent(t, err)
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("%s: %v, want %v", name, err, want)
	}
	s.gateways[0].Misbehave(gatewaysim.Healthy, nil)
	if w.made != nil && w.made(t.Context(), s) != made {
		t.Errorf("%s: made: %t", name, !made)
	}
	if posts := s.gateways[0].ControlCalls()["POST /tyk/keys/create"]; w.way == once && posts > 1 {
		t.Errorf("%s: sent %d times", name, posts)
	}
	if want == nil || w.way == once {
		return
	}
	if err := w.do(t.Context(), s, s.sound); err != nil && (!errors.Is(err, gateway.ErrTaken) || !made) {
		t.Errorf("%s, again: %v", name, err)
	}
	if w.made != nil && !w.made(t.Context(), s) {
		t.Errorf("%s: it is not there after the second attempt", name)
	}
}

// TestFaultsOfOneGateway: if one of two gateways fails, the other one carries out the
// write once, unless it is unknown whether the write has arrived.
func TestFaultsOfOneGateway(t *testing.T) {
	each(t, func(t *testing.T, fault gatewaysim.Fault, patience time.Duration) {
		var tasks sync.WaitGroup
		for name, w := range writes {
			s := newScene(t, 2, patience)
			s.gateways[0].Misbehave(fault, nil)
			tasks.Go(func() {
				err := w.do(t.Context(), s, s.shaken())
				silent(t, err)
				if uncertain := w.way == once && fault != gatewaysim.Unwired; uncertain != errors.Is(err, gateway.ErrUncertain) || !uncertain && err != nil {
					t.Errorf("%s: %v", name, err)
				}
				s.gateways[0].Misbehave(gatewaysim.Healthy, nil)
				if w.way != once && w.made != nil && !w.made(t.Context(), s) {
					t.Errorf("%s: it is not there", name)
				}
				if n := s.store.Keys(); n > 2 {
					t.Errorf("%s: %d keys", name, n)
				}
			})
		}
		tasks.Wait()
	})
}
