package gatewaysim

import (
	"net/http"
	"time"
)

// counterKey identifies a shared counter.
type counterKey struct {
	org, identity, scope string
	stored               bool // identity is a key in the shared store
}

// counter counts the requests of one credential.
type counter struct {
	recent []time.Time // requests within the last period of the rate
	used   int64       // of the quota
	renews time.Time   // zero: never
}

var (
	tooMany  = Decision{Status: http.StatusTooManyRequests, Body: http.StatusText(http.StatusTooManyRequests)}
	overUsed = Decision{Status: http.StatusForbidden, Body: "Quota exceeded"}
)

// take counts a request, or returns why it is refused: first by the rate, which does
// not count refused requests, then by the quota.
func (c *counter) take(l Limit, now time.Time) *Decision {
	if l.Rate > 0 && l.Per > 0 {
		since := now.Add(-time.Duration(l.Per * float64(time.Second)))
		for len(c.recent) > 0 && !c.recent[0].After(since) {
			c.recent = c.recent[1:]
		}
		if float64(len(c.recent)) >= l.Rate {
			return &tooMany
		}
		c.recent = append(c.recent, now)
	}
	if l.QuotaMax > 0 {
		if !c.renews.IsZero() && now.After(c.renews) {
			*c = counter{recent: c.recent}
		}
		if c.used == 0 && l.QuotaRenewal > 0 {
			c.renews = now.Add(time.Duration(l.QuotaRenewal) * time.Second)
		}
		if c.used >= l.QuotaMax {
			return &overUsed
		}
		c.used++
	}
	return nil
}

// limited counts a request of a credential against a limit.
func (v view) limited(key counterKey, l Limit) *Decision {
	lock, counters := &v.p.gw.mu, v.p.counters
	if s := v.p.cfg.Store; key.stored {
		lock, counters = &s.mu, s.counters
	}
	lock.Lock()
	defer lock.Unlock()
	c := counters[key]
	if c == nil {
		c = &counter{}
		counters[key] = c
	}
	return c.take(l, time.Now())
}
