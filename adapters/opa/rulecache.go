package opa

import (
	"container/list"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// cacheSize is how many compiled rule sets of organisations are cached.
const cacheSize = 256

// ruleCache is an LRU cache of rule sets by their text, so that equal rules of several
// organisations are compiled once and changed rules apply at once. Sets that do not
// compile are cached too, with their error.
type ruleCache struct {
	compile func(text string, org tenant.ID) (*ruleSet, error)

	mu      sync.Mutex
	byText  map[string]*list.Element
	byUsage list.List // of *cached, most recently used first
}

type cached struct {
	text string
	get  func() (*ruleSet, error)
}

// entry returns the cache entry for a text; org is the organisation that asks for it
// first.
func (c *ruleCache) entry(text string, org tenant.ID) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.byText[text]; ok {
		c.byUsage.MoveToFront(el)
		return el.Value.(*cached)
	}
	if c.byText == nil {
		c.byText = map[string]*list.Element{}
	}
	if c.byUsage.Len() >= cacheSize {
		last := c.byUsage.Remove(c.byUsage.Back()).(*cached)
		delete(c.byText, last.text)
	}
	e := &cached{text, sync.OnceValues(func() (*ruleSet, error) { return c.compile(text, org) })}
	c.byText[text] = c.byUsage.PushFront(e)
	return e
}
