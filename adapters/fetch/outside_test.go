package fetch_test

import (
	"net/netip"
	"testing"
	"time"

	adapter "github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/fetch/fetchtest"
)

// TestOutside: names that change their minds and redirections lead nowhere inside.
func TestOutside(t *testing.T) {
	fetchtest.Outside(t, adapter.New(adapter.Config{Timeout: 5 * time.Second}), false)
	fetchtest.Outside(t, adapter.New(adapter.Config{Timeout: 5 * time.Second, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}), true)
}
