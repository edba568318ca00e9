package linear_test

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// The size of one round. It is small enough that clients often collide on the same
// record, and that the search for an order takes milliseconds.
const (
	clients = 8
	records = 3
	each    = 25 // requests of one client
)

// memory says which entity tag of a record a conditional request sends.
type memory int

const (
	unconditional memory = iota
	latest               // the last one that this client has seen
	outdated             // the one before it
)

// planned is a request before the tags are known.
type planned struct {
	input
	tag     memory
	giveUp  time.Duration // 0: wait for the answer
	replica int
}

var (
	apiIDs     = []string{"orders", "billing", "a.b/c$d"}
	scopeNames = []string{"read", "orders:write", "https://x/.default"}
)

// plan generates the requests of one client in one round. Names and policies are
// written once each, so that a read shows which write it saw.
func plan(seed uint64, round, client int) []planned {
	g := &drawing{Rand: rand.New(rand.NewPCG(seed, uint64(round*clients+client))), round: round, client: client}
	out := make([]planned, each)
	for i := range out {
		out[i] = g.request()
		out[i].replica = client + i // round robin
	}
	return out
}

type drawing struct {
	*rand.Rand
	round, client, fresh int
}

func (g *drawing) request() planned {
	p := planned{input: input{Record: fmt.Sprintf("idp-%d-%d", g.round, g.IntN(records)), Verb: g.verb()}}
	switch p.Verb {
	case create, replace:
		p.Name, p.Mappings = g.unique("name"), g.table()
	case patch:
		p.Patch = g.merge()
	case putMapping:
		p.API = g.api()
		p.Mappings = mappings{p.API: g.scopes()}
	case removeMapping, readMapping:
		p.API = g.api()
	}
	p.tag = g.memory(p.Verb)
	if g.IntN(100) == 0 {
		p.giveUp = time.Duration(g.IntN(1500)) * time.Microsecond
	}
	return p
}

// often has the number of requests of each kind per hundred; the rest are reads.
var often = []struct {
	verb
	share int
}{{create, 13}, {remove, 3}, {replace, 18}, {patch, 15}, {putMapping, 12}, {removeMapping, 8}, {readMapping, 8}}

func (g *drawing) verb() verb {
	n := g.IntN(100)
	for _, v := range often {
		if n -= v.share; n < 0 {
			return v.verb
		}
	}
	return read
}

// memory mostly makes a replacement a compare-and-set, and a read conditional.
func (g *drawing) memory(v verb) memory {
	switch n := g.IntN(100); {
	case (v == replace || v == read) && n < 70, (v == patch || v == remove) && n < 20:
		return latest
	case v == replace && n < 80:
		return outdated
	}
	return unconditional
}

func (g *drawing) api() string { return apiIDs[g.IntN(len(apiIDs))] }

func (g *drawing) scope() string { return scopeNames[g.IntN(len(scopeNames))] }

func (g *drawing) unique(word string) string {
	g.fresh++
	return fmt.Sprintf("%s-%d-%d", word, g.client, g.fresh)
}

func (g *drawing) scopes() scopes {
	out := scopes{}
	for range g.IntN(3) {
		out[g.scope()] = g.unique("policy")
	}
	return out
}

func (g *drawing) table() mappings {
	out := mappings{}
	for range 1 + g.IntN(4) {
		out[g.api()] = g.scopes()
	}
	return out
}

// merge changes one or two APIs; one change in five removes something.
func (g *drawing) merge() merge {
	out := merge{}
	for range 1 + g.IntN(2) {
		api := g.api()
		if g.IntN(5) == 0 {
			out[api] = nil
			continue
		}
		changes := map[string]*string{}
		for range 1 + g.IntN(2) {
			policy := g.unique("policy")
			changes[g.scope()] = &policy
			if g.IntN(5) == 0 {
				changes[g.scope()] = nil
			}
		}
		out[api] = changes
	}
	return out
}
