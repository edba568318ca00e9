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

// slow is a gateway that answers when it may.
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

// TestRefreshesShareAnAnswer: callers who refresh while a gateway is asked wait for the same next
// answer, which is no older than their question.
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
	for looks.Load() < before+callers { // until each has come
		time.Sleep(time.Millisecond)
	}
	close(at.may)
	all.Wait()
	if n := at.asked.Load(); n != 2 {
		t.Errorf("gateways were asked %d times", n)
	}
}
