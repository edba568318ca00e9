package prometheus

import (
	"maps"
	"sync"
	"sync/atomic"
)

// cache stores the value made for a key, for ever. Looking up a Prometheus series by
// its label values hashes them and locks on every call; cache does neither and
// allocates nothing. Keys are few and soon all known, so adding one copies the map. The
// zero value is ready to use.
type cache[K comparable, V any] struct {
	adding sync.Mutex
	known  atomic.Pointer[map[K]V]
}

func (c *cache[K, V]) get(key K, create func() V) V {
	if m := c.known.Load(); m != nil {
		if v, ok := (*m)[key]; ok {
			return v
		}
	}
	c.adding.Lock()
	defer c.adding.Unlock()
	next := map[K]V{}
	if m := c.known.Load(); m != nil {
		if v, ok := (*m)[key]; ok {
			return v
		}
		next = maps.Clone(*m)
	}
	v := create()
	next[key] = v
	c.known.Store(&next)
	return v
}
