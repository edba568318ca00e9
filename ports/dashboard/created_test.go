package dashboard_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// listed is a dashboard that lists policies.
type listed struct {
	dashboard.Dashboard
	text string
}

func (l listed) Policies(context.Context) ([]*doc.Node, error) {
	return dashboard.DecodePolicies([]byte(l.text))
}

// TestFind: a policy is found if it has all members that were sent. Members that the dashboard
// adds, leaves out or writes differently do not matter.
func TestFind(t *testing.T) {
	sent, err := doc.ParseNode([]byte(`{"name":"P","state":"active","rate":1,"tags":[],"meta_data":{},"partitions":{"acl":true,"quota":false},"access_rights":{"a":{"api_id":"a","versions":["Default"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	const same = `"name":"P","state":"active","rate":1.0,"partitions":{"acl":true},"access_rights":{"a":{"api_id":"a","versions":["Default"],"limit":null}}`
	for _, c := range []struct {
		policy string
		found  bool
	}{
		{`{"_id":"1",` + same + `,"id":"x","hmac_enabled":false,"tags":null}`, true},
		{`{"_id":"1",` + same + `,"meta_data":{"a":"b"}}`, true},
		{`{"_id":"1",` + same + `,"tags":["a"]}`, false},
		{`{"_id":"1",` + same + `,"meta_data":7}`, false},
		{`{"_id":"1","name":"P","state":"active","rate":1,"partitions":{"acl":true}}`, false},
		{`{"_id":"1","name":"P","state":"active","rate":1,"partitions":{"acl":true},"access_rights":{"a":{"api_id":"a","versions":["v2"]}}}`, false},
		{`{"_id":"1","name":"Q","state":"active","rate":1,"partitions":{"acl":true},"access_rights":{"a":{"api_id":"a","versions":["Default"]}}}`, false},
	} {
		ref, err := dashboard.Find(t.Context(), listed{text: `{"Data":[{"_id":"0","name":"Other"},` + c.policy + `]}`}, sent)
		if c.found && (err != nil || ref.ObjectID != "1") || !c.found && (!errors.Is(err, dashboard.ErrGone) || ref != sync.Ref{}) {
			t.Errorf("%s: %+v, %v", c.policy, ref, err)
		}
	}
}
