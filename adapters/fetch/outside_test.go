package fetch_test

import (
	"net/netip"
	"testing"
	"time"

	adapter "github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/fetch/fetchtest"
)

// TestOutside: names that change their addresses, and redirects, do not lead into the
// private network.
func TestOutside(t *testing.T) {
	fetchtest.Outside(t, adapter.New(adapter.Config{Timeout: 5 * time.Second}), false)
	fetchtest.Outside(t, adapter.New(adapter.Config{Timeout: 5 * time.Second, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}), true)
}
