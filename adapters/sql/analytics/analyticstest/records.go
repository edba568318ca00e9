// Package analyticstest makes artificial traffic, the same for the same seed, and fills the
// tables with it as the programs that report traffic do.
package analyticstest

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Sort is the family of calls that a record belongs to.
type Sort uint8

// The sorts of calls.
const (
	REST Sort = iota
	GraphQL
	MCP
)

// Record is one call.
type Record struct {
	At                                   time.Time
	Sort                                 Sort
	Org, API, Name, Version, Key, Client string
	Path, Country                        string
	Code                                 int
	Latency, Upstream                    int64
	Tags                                 []string
	Tracked                              bool
	Method, Primitive, Called            string // of an MCP call
	Operation, Root, Type, Field         string // of a GraphQL call
}

// Traffic says what traffic to make.
type Traffic struct {
	Seed          uint64
	Records, Days int
	From          time.Time // begin of the first day
	APIs, Keys    int
	Orgs          []string
}

var (
	countries = []string{"", "", "", "DE", "FR", "US", "IN"}
	codes     = []int{200, 200, 200, 200, 201, 204, 302, 400, 401, 403, 404, 418, 429, 500, 503, 599}
	clients   = []string{"", "", "client-1", "client-2"}
	tags      = []string{"gold", "sil&v.er", "x-team-blue", `quo"ted`, "comma'd"}
)

// Make returns the records, unordered.
func (t Traffic) Make() []Record {
	r := rand.New(rand.NewPCG(t.Seed, 1)) //nolint:gosec // the same for the same seed
	out := make([]Record, t.Records)
	for i := range out {
		n := r.IntN(t.APIs)
		rec := Record{
			At: t.From.Add(time.Duration(r.Int64N(int64(t.Days)*24*3600)) * time.Second).UTC(), Org: t.Orgs[r.IntN(len(t.Orgs))], Version: "Non Versioned",
			Key: Key(r.IntN(t.Keys)), Client: clients[r.IntN(len(clients))], Country: countries[r.IntN(len(countries))], Code: codes[r.IntN(len(codes))],
			Latency: r.Int64N(500), Tracked: r.IntN(4) == 0,
		}
		rec.API, rec.Name = API(n), fmt.Sprintf("API %d", n)
		if r.IntN(3) == 0 {
			rec.Version = "v" + string(rune('1'+r.IntN(3)))
		}
		if rec.Latency > 0 {
			rec.Upstream = r.Int64N(rec.Latency)
		}
		rec.Path = []string{"/", "/items", "/items/{id}", "/dot.json", "/a:b"}[r.IntN(5)]
		for _, tag := range tags {
			if r.IntN(5) == 0 {
				rec.Tags = append(rec.Tags, tag)
			}
		}
		switch n % 10 {
		case 8:
			rec.Sort, rec.Operation, rec.Root, rec.Type, rec.Field = GraphQL, []string{"Query", "Mutation"}[r.IntN(2)], "user", "User", "User_name"
			if rec.Code == 400 {
				rec.Code = 500 // GraphQL queries that cannot be parsed count as other calls
			}
		case 9:
			rec.Sort, rec.Path = MCP, "/"
			rec.Method, rec.Primitive, rec.Called = "tools/list", "", ""
			if k := r.IntN(4); k < 3 {
				rec.Primitive = []string{"tool", "resource", "prompt"}[k]
				rec.Method, rec.Called = []string{"tools/call", "resources/read", "prompts/get"}[k], fmt.Sprintf("thing-%d", r.IntN(3))
			}
		}
		out[i] = rec
	}
	return out
}

// API returns the ID of an API. Some are prefixes of others.
func API(n int) string {
	if n%7 == 3 {
		return fmt.Sprintf("api%d", n)
	}
	return fmt.Sprintf("api%d%s", n, strings.Repeat("x", n%3))
}

// Key returns the hash of a key.
func Key(n int) string { return fmt.Sprintf("%08x", 0x1000+n*7919) }

// values returns, by dimension, the values under which the counters of its sort count a
// record.
func (r Record) values() map[string][]string {
	out := map[string][]string{"": {"total"}, "apiid": {r.API}, "apikeys": {r.Key}, "versions": {std(r.API + ":" + r.Version)}, "tags": nil}
	for _, t := range r.Tags {
		out["tags"] = append(out["tags"], strings.ReplaceAll(strings.TrimSpace(t), ".", ""))
	}
	if r.Code >= 400 {
		out["errors"] = []string{fmt.Sprint(r.Code)}
	}
	switch r.Sort {
	case GraphQL:
		delete(out, "errors")
		out["operation"], out["rootfields"], out["types"], out["fields"] = []string{r.Operation}, []string{r.Root}, []string{r.Type}, []string{r.Field}
		return out
	case MCP:
		out["methods"], out["names"] = []string{r.Method}, []string{r.Method}
		if r.Primitive != "" {
			out["primitives"], out["names"] = []string{r.Primitive}, []string{r.Primitive + "_" + r.Called}
		}
		return out
	}
	if r.Country != "" {
		out["geo"] = []string{r.Country}
	}
	if r.Client != "" {
		out["oauthids"] = []string{r.Client}
	}
	if r.Tracked {
		out["endpoints"] = []string{strings.ReplaceAll(r.Path, ".", `\u2e`)}
		out["apiendpoints"] = []string{hex.EncodeToString([]byte(r.API + ":" + r.Version + ":" + r.Path))}
		out["keyendpoints"] = []string{r.Key + "." + std(r.API+":"+r.Path)}
		if r.Client != "" {
			out["oauthendpoints"] = []string{r.Client + "." + std(r.API+":"+r.Path)}
		}
	}
	return out
}

func std(text string) string { return base64.RawStdEncoding.EncodeToString([]byte(text)) }
