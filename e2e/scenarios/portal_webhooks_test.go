package scenarios

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// webhookSecret signs the deliveries of the portal's webhooks.
const webhookSecret = "the secret of the webhooks"

// TestPortalWebhooks kills the portal at random moments while webhooks that fail at random
// get events about organisations: each event arrives at each webhook, by one delivery, in
// chronological order, and signed.
func TestPortalWebhooks(t *testing.T) {
	own := filepath.Join(t.TempDir(), "portal.conf")
	if err := os.WriteFile(own, []byte(`{"Webhooks":{"PauseDuration":0,"Secret":"`+webhookSecret+`"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	dying(t, environment{"PORTAL_SERVE": "shared", "PORTAL_CONFIGURATION": own, "DELIVERIES_ALLOWEDNETWORKS": "127.0.0.1"}, portalWebhooks)
}

// portalWebhooks subscribes several webhooks to the same events. Organisations are
// numbered in the order of their creation.
func portalWebhooks(t *testing.T, base string, kill func()) {
	events, kills := 300, 3
	if long() {
		events, kills = 10_000, 20
	}
	portal := newClient(base, "Authorization", "none")
	enter(t, portal)
	r := newReceiver(t, listeners{
		lanes: 2, events: events, once: true,
		secret: func(int) string { return webhookSecret },
		hears:  func(int, int) bool { return true },
		place:  func(e told) int { id, _ := e.Message.ID.(float64); return int(id) },
	})
	path := map[string]string{} // of the webhooks, by lane
	for lane := range r.lanes {
		made := portal.do(t, http.MethodPost, "/portal-api/webhooks", object{"Name": laneName(lane), "Method": http.MethodPost, "URL": r.server.URL + "/" + laneName(lane), "Events": []string{"OrganisationRegistered"}})
		path[laneName(lane)] = "/portal-api/webhooks/" + made.ID + "/deliveries"
	}
	x := &exchange{receiver: r,
		happen: func(name string) error { return register(t, portal, name) },
		list: func(state string) (out []listed, err error) {
			for lane, at := range path {
				var some []listed
				if err := portal.call(t.Context(), http.MethodGet, at+"?page=-1&state="+state, nil, &some); err != nil {
					return nil, err
				}
				for _, d := range some {
					d.Lane = lane
					out = append(out, d)
				}
			}
			return out, nil
		},
		resend: func(d listed) error {
			err := portal.call(t.Context(), http.MethodPut, path[d.Lane]+"/"+d.ID+"/resend", nil, nil)
			if statusOf(err) == http.StatusUnprocessableEntity { // the delivery is already waiting
				return nil
			}
			return err
		},
	}
	x.run(t, kills, kill)
}

// register creates an organisation. An existing one was created by a call whose answer was
// lost.
func register(t *testing.T, portal *client, name string) error {
	err := portal.call(t.Context(), http.MethodPost, "/portal-api/organisations", object{"Name": name}, nil)
	if statusOf(err) == http.StatusUnprocessableEntity && strings.Contains(err.Error(), "Name has already been taken") {
		return nil
	}
	return err
}
