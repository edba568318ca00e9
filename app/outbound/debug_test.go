package outbound_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/outbound"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

type gatewayStub struct {
	asked  fetch.Request
	answer fetch.Answer
	err    error
}

func (g *gatewayStub) Fetch(_ context.Context, r fetch.Request) (fetch.Answer, error) {
	g.asked = r
	return g.answer, g.err
}

func TestDebug(t *testing.T) {
	scope, _ := tenant.Of("o1")
	const body = `{"request":{"method":"GET","path":"/"},"Spec":{"Org_ID":"other","name":"x"}}`
	for _, c := range []struct {
		url    string
		answer fetch.Answer
		err    error
		kind   fault.Kind
		want   string
	}{
		{"http://gw:8080", fetch.Answer{Status: 200, Body: []byte(`{"message":"ok"}`)}, nil, 0, `{"message":"ok"}`},
		{"http://gw:8080", fetch.Answer{Status: 400, Body: []byte(`{"message":"Spec field is missing"}`)}, nil, fault.Invalid, "Spec field is missing"},
		{"http://gw:8080", fetch.Answer{Status: 400, Body: []byte(`x`)}, nil, fault.Invalid, "cannot run"},
		{"http://gw:8080", fetch.Answer{Status: 403, Body: []byte(`{"message":"secret wrong"}`)}, nil, fault.Unavailable, "could not run"},
		{"http://gw:8080", fetch.Answer{}, errors.New("down"), fault.Unavailable, "did not answer"},
		{"", fetch.Answer{}, nil, fault.Unavailable, "tyk_api_config"},
	} {
		g := &gatewayStub{answer: c.answer, err: c.err}
		d := &outbound.Debug{Fetcher: g, Gateway: outbound.GatewayAPI{URL: c.url, Secret: "hush"}}
		o := d.Operations()[0]
		out, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Scope: scope, Body: []byte(body)})
		if c.kind == 0 {
			if text, _ := out.(json.RawMessage); err != nil || string(text) != c.want {
				t.Errorf("%s %v", text, err)
			}
			if g.asked.URL != "http://gw:8080/tyk/debug" || g.asked.Header["X-Tyk-Authorization"] != "hush" || !strings.Contains(string(g.asked.Body), `"Spec":{"name":"x","org_id":"o1"}`) || !g.asked.Trusted {
				t.Errorf("%+v", g.asked)
			}
			continue
		}
		f, _ := errors.AsType[*fault.Error](err)
		if f == nil || f.Kind != c.kind || !strings.Contains(f.Message, c.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
