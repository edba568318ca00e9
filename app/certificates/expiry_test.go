package certificates

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

type answering = gateway.Certificates

// slow is a gateway that responds when the test allows it.
type slow struct {
	answering
	asked atomic.Int32
	began chan struct{}
	may   chan struct{}
}

func (s *slow) ListCertificates(context.Context, tenant.ID) ([]certificate.Basics, error) {
	s.asked.Add(1)
	s.began <- struct{}{}
	<-s.may
	return nil, nil
}

// TestRefreshesShareAnAnswer: callers who refresh during a call of a gateway wait for
// the response to the same next call, which begins after their request.
func TestRefreshesShareAnAnswer(t *testing.T) {
	const callers = 20
	at := &slow{began: make(chan struct{}, callers+1), may: make(chan struct{})}
	var looks atomic.Int64
	now := func() time.Time { return time.Unix(0, looks.Add(1)) }
	s := &Service{Config: Config{Gateways: at, APIs: &apis.Repository{Config: apis.Config{Now: now}}}, known: &known{orgs: map[tenant.ID]*listing{}}}
	var all sync.WaitGroup
	refresh := func() {
		if _, err := s.current(t.Context(), "acme", true); err != nil {
			t.Error(err)
		}
	}
	all.Go(refresh)
	<-at.began
	before := looks.Load()
	for range callers {
		all.Go(refresh)
	}
	for looks.Load() < before+callers { // until each caller has started
		time.Sleep(time.Millisecond)
	}
	close(at.may)
	all.Wait()
	if n := at.asked.Load(); n != 2 {
		t.Errorf("gateways were asked %d times", n)
	}
}
