package scenarios

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
)

// TestDeliveries kills the service at random moments while events are sent to receivers
// that fail at random: each event arrives, in the order of its lane, and signed.
func TestDeliveries(t *testing.T) {
	dying(t, environment{"DELIVERIES_PAUSE": "10ms", "DELIVERIES_ALLOWEDNETWORKS": "127.0.0.1"}, deliveries)
}

// deliveries gives each organisation a webhook for its own events.
func deliveries(t *testing.T, base string, kill func()) {
	events, kills := 500, 3
	if long() {
		events, kills = 10_000, 20
	}
	admin := newClient(base, "Admin-Auth", adminSecret)
	secret := func(lane int) string { return fmt.Sprintf("the secret of lane %d, long enough", lane) }
	r := newReceiver(t, listeners{
		lanes: writerCount, events: events, secret: secret,
		hears: func(lane, event int) bool { return event%writerCount == lane },
		place: func(e told) int { i, _ := strconv.Atoi(e.Message.Name); return i },
	})
	for lane := range writerCount {
		admin.do(t, http.MethodPost, "/admin/organisations/import", object{"id": laneName(lane), "owner_name": laneName(lane), "event_options": object{
			"api_event": object{"webhook": r.server.URL + "/" + laneName(lane), "secret": secret(lane)}}})
	}
	x := &exchange{receiver: r,
		happen: func(name string) error { return change(t, admin, name) },
		list: func(state string) ([]listed, error) {
			var out struct{ Deliveries []listed }
			err := admin.call(t.Context(), http.MethodGet, "/admin/deliveries?p=-1&state="+state, nil, &out)
			return out.Deliveries, err
		},
		resend: func(d listed) error {
			err := admin.call(t.Context(), http.MethodPost, "/admin/deliveries/"+d.ID+"/resend", nil, nil)
			if statusOf(err) == http.StatusConflict { // the delivery is already waiting
				return nil
			}
			return err
		},
	}
	x.run(t, kills, kill)
}

// change renames the API of a lane.
func change(t *testing.T, admin *client, name string) error {
	number, _ := strconv.Atoi(name)
	lane := number % writerCount
	org := laneName(lane)
	var answer struct{ Meta map[string]any }
	err := admin.call(t.Context(), http.MethodPost, "/admin/apis/import", object{"apis": []object{{"api_definition": object{
		"id": fmt.Sprintf("5f1a0c5d8e3b2a1f1000000%d", lane), "api_id": "api-of-" + org, "org_id": org, "name": name, "proxy": object{"listen_path": "/" + org + "/", "target_url": "https://upstream.example"}}}}}, &answer)
	for id, stored := range answer.Meta {
		if stored != true {
			return fmt.Errorf("%s: %v", id, stored)
		}
	}
	return err
}
