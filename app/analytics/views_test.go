package analytics_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics/analyticstest"
	"github.com/gatehouse-io/gatehouse/core/analytics/view"
)

// tally is what the tests count themselves.
type tally struct {
	hits, success, errors, sum, up int64
	most, least, mostUp, leastUp   int64
	last                           time.Time
}

func (c *tally) add(r *analyticstest.Record) {
	if c.hits == 0 {
		c.least, c.leastUp = math.MaxInt64, math.MaxInt64
	}
	c.hits, c.sum, c.up = c.hits+1, c.sum+r.Latency, c.up+r.Upstream
	if r.Code >= 200 && r.Code < 300 {
		c.success++
	}
	if r.Code >= 400 {
		c.errors++
	}
	c.most, c.least, c.mostUp, c.leastUp = max(c.most, r.Latency), min(c.least, r.Latency), max(c.mostUp, r.Upstream), min(c.leastUp, r.Upstream)
	if r.At.After(c.last) {
		c.last = r.At
	}
}

// question is a view with what it should count: the results to which a record adds.
type question struct {
	as, path string
	from, to int // days
	into     func(*analyticstest.Record) []view.UnitID
	counts   bool // no times, which counters do not have
	zone     *time.Location
}

func (q question) days() string {
	a, b := first.AddDate(0, 0, q.from), first.AddDate(0, 0, q.to)
	return fmt.Sprintf("/%d/%d/%d/%d/%d/%d", a.Day(), a.Month(), a.Year(), b.Day(), b.Month(), b.Year())
}

// want counts the records without the service.
func (q question) want(records []analyticstest.Record) map[unit]*tally {
	zone := q.zone
	if zone == nil {
		zone = time.UTC
	}
	out, org := map[unit]*tally{}, string(callers[q.as].OrgID)
	midnight := func(day int) time.Time {
		return time.Date(first.Year(), first.Month(), first.Day()+day, 0, 0, 0, 0, zone)
	}
	from, to := midnight(q.from), midnight(q.to+1)
	for i := range records {
		r := &records[i]
		if r.Org != org || r.At.Before(from) || !r.At.Before(to) {
			continue
		}
		for _, id := range q.into(r) {
			key := keyOf(id)
			if out[key] == nil {
				out[key] = &tally{}
			}
			out[key].add(r)
		}
	}
	return out
}

// unit identifies a result: names may be older than the name of the API.
type unit struct {
	day, month, year, hour, code        int
	path, key, url, api, country, alias string
}

func keyOf(id view.UnitID) unit {
	return unit{id.Day, id.Month, id.Year, id.Hour, id.Code, id.Path, id.Key, id.URL, id.APIID, id.Country, id.Alias}
}

func at(r *analyticstest.Record, zone *time.Location, res string) view.UnitID {
	t := r.At.In(zone)
	switch res {
	case "month":
		return view.UnitID{Year: t.Year(), Month: int(t.Month())}
	case "hour":
		return view.UnitID{Year: t.Year(), Month: int(t.Month()), Day: t.Day(), Hour: t.Hour()}
	}
	return view.UnitID{Year: t.Year(), Month: int(t.Month()), Day: t.Day()}
}

// check compares a view with the counts of the test.
func (w *world) check(q question) {
	w.t.Helper()
	path, query, _ := strings.Cut(q.path, "?")
	units, pages := w.page(q.as, path+q.days()+"?p=-1&"+query)
	want := q.want(w.records)
	if pages != 1 || len(want) == 0 && q.as == "admin" && w.whole {
		w.t.Errorf("%s %s: %d pages; %d results are expected", q.as, q.path, pages, len(want))
	}
	for _, u := range units {
		c := want[keyOf(u.ID)]
		delete(want, keyOf(u.ID))
		if c == nil {
			w.t.Errorf("%s %s: nothing is expected of %+v", q.as, q.path, u.ID)
			continue
		}
		near := func(have float64, sum int64) bool {
			return math.Abs(have*float64(c.hits)-float64(sum)) < 1e-6*(1+float64(sum))
		}
		same := u.Hits == c.hits && u.Success == c.success && u.Error == c.errors && u.LastHit != ""
		if !q.counts {
			same = same && u.LastHit == c.last.Format(time.RFC3339) && near(u.Latency, c.sum) && near(u.RequestTime, c.sum) && near(u.UpstreamLatency, c.up) &&
				u.MaxLatency == c.most && u.MinLatency == c.least && u.MaxUpstream == c.mostUp && u.MinUpstream == c.leastUp
		}
		if !same {
			w.t.Errorf("%s %s: %+v\nwant %+v", q.as, q.path, u, c)
		}
	}
	for id := range want {
		w.t.Errorf("%s %s: there is no %+v", q.as, q.path, id)
	}
}

// questions are all views, as called by several callers.
func questions(t *testing.T) (all []question) {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	one := func(id view.UnitID, admitted bool) []view.UnitID {
		if admitted {
			return []view.UnitID{id}
		}
		return nil
	}
	key, api := analyticstest.Key(3), analyticstest.API(6)
	rest := func(r *analyticstest.Record) bool { return r.Sort == analyticstest.REST }
	add := func(as, path string, from, to int, into func(*analyticstest.Record) []view.UnitID) *question {
		all = append(all, question{as: as, path: path, from: from, to: to, into: into})
		return &all[len(all)-1]
	}
	for _, as := range []string{"admin", "ann", "bob", "own", "other"} {
		seen := sees[as]
		for _, res := range []string{"day", "month"} {
			add(as, "/api/usage?res="+res, 0, 399, func(r *analyticstest.Record) []view.UnitID {
				return one(at(r, time.UTC, res), rest(r) && seen(r.API))
			})
		}
		add(as, "/api/usage?res=hour", 100, 110, func(r *analyticstest.Record) []view.UnitID {
			return one(at(r, time.UTC, "hour"), rest(r) && seen(r.API))
		})
		add(as, "/api/usage?tz=Europe/Berlin", 20, 190, func(r *analyticstest.Record) []view.UnitID {
			return one(at(r, berlin, "day"), rest(r) && seen(r.API))
		}).zone = berlin
		add(as, "/api/usage/apis", 3, 350, func(r *analyticstest.Record) []view.UnitID {
			return one(view.UnitID{APIID: r.API}, rest(r) && seen(r.API))
		})
		add(as, "/api/activity/keys/"+key, 0, 399, func(r *analyticstest.Record) []view.UnitID {
			return one(view.UnitID{APIID: r.API, Path: r.Path, Key: key}, rest(r) && seen(r.API) && r.Key == key && r.Tracked)
		})
		add(as, "/api/activity/oauthid/client-1", 0, 399, func(r *analyticstest.Record) []view.UnitID {
			return one(view.UnitID{APIID: r.API, Path: r.Path}, rest(r) && seen(r.API) && r.Client == "client-1" && r.Tracked)
		})
		add(as, "/api/activity/endpoint", 0, 399, func(r *analyticstest.Record) []view.UnitID {
			return one(view.UnitID{APIID: r.API, Path: r.Path, Alias: r.Version}, rest(r) && seen(r.API) && r.Tracked)
		})
		add(as, "/api/activity/keys/aggregate/"+key+","+analyticstest.Key(4), 40, 70, func(r *analyticstest.Record) []view.UnitID {
			return one(at(r, time.UTC, "day"), seen(r.API) && rest(r) && (r.Key == key || r.Key == analyticstest.Key(4)))
		})
		add(as, "/api/activity/geo", 40, 70, func(r *analyticstest.Record) []view.UnitID {
			return one(view.UnitID{Country: r.Country}, seen(r.API) && r.Country != "" && rest(r))
		})
		add(as, "/api/activity/error", 0, 399, func(r *analyticstest.Record) []view.UnitID {
			id := view.UnitID{Code: r.Code}
			if own := []int{400, 401, 403, 404, 429, 500, 501, 502, 503, 504}; as != "admin" && as != "other" && !slices.Contains(own, r.Code) {
				id = view.UnitID{Code: r.Code / 100, Path: fmt.Sprint(r.Code/100) + "xx"}
			}
			return one(id, rest(r) && seen(r.API) && r.Code >= 400)
		}).counts = true
		for group, of := range map[string]func(*analyticstest.Record) string{"": func(r *analyticstest.Record) string { return r.Operation }, "?group_by=fields": func(r *analyticstest.Record) string { return r.Field }} {
			add(as, "/api/activity/graph"+group, 0, 399, func(r *analyticstest.Record) []view.UnitID {
				return one(view.UnitID{APIID: r.API, Path: of(r)}, r.Sort == analyticstest.GraphQL && seen(r.API))
			})
		}
		mcp := func(r *analyticstest.Record) bool { return r.Sort == analyticstest.MCP && seen(r.API) }
		add(as, "/api/usage/mcp", 0, 399, func(r *analyticstest.Record) []view.UnitID { return one(view.UnitID{APIID: r.API}, mcp(r)) })
		add(as, "/api/activity/mcp/primitives?res=month", 0, 399, func(r *analyticstest.Record) []view.UnitID { return one(at(r, time.UTC, "month"), mcp(r)) })
		add(as, "/api/activity/mcp/primitives?group_by=mcp_primitive", 0, 399, func(r *analyticstest.Record) []view.UnitID { return one(primitive(r), mcp(r)) })
		add(as, "/api/activity/mcp/primitives?group_by=mcp_primitive&mcp_primitive_type=tool", 0, 399, func(r *analyticstest.Record) []view.UnitID {
			return one(primitive(r), mcp(r) && r.Primitive == "tool")
		})
		add(as, "/api/activity/mcp/primitives?group_by=mcp_primitive&mcp_method=tools/list", 0, 399, func(r *analyticstest.Record) []view.UnitID {
			return one(primitive(r), mcp(r) && r.Method == "tools/list")
		})
		add(as, "/api/activity/mcp/primitives?group_by=mcp_primitive&mcp_primitive_name=thing-1", 0, 399, func(r *analyticstest.Record) []view.UnitID {
			return one(primitive(r), mcp(r) && r.Called == "thing-1")
		})
		add(as, "/api/activity/mcp/keys/"+key, 0, 399, func(r *analyticstest.Record) []view.UnitID {
			id := at(r, time.UTC, "day")
			id.APIID, id.Key = r.API, key
			return one(id, mcp(r) && r.Key == key)
		})
		add(as, "/api/activity/mcp/keys/"+key+"?group_by=mcp_primitive&mcp_primitive_type=prompt", 0, 30, func(r *analyticstest.Record) []view.UnitID {
			id := primitive(r)
			id.Key = key
			return one(id, mcp(r) && r.Key == key && r.Primitive == "prompt")
		})
	}
	// Filters.
	add("admin", "/api/usage?api_id="+api, 0, 399, func(r *analyticstest.Record) []view.UnitID {
		id := at(r, time.UTC, "day")
		id.APIID = api
		return one(id, rest(r) && r.API == api)
	})
	add("bob", "/api/usage/apis/"+api, 0, 399, func(r *analyticstest.Record) []view.UnitID {
		id := at(r, time.UTC, "day")
		id.APIID = api
		return one(id, rest(r) && r.API == api)
	})
	add("admin", "/api/usage/apis?api_id="+api+"&api_version=v2", 0, 399, func(r *analyticstest.Record) []view.UnitID {
		return one(view.UnitID{APIID: api}, rest(r) && r.API == api && r.Version == "v2")
	})
	add("admin", "/api/activity/endpoint?api_id="+api+"&api_version=v1", 0, 399, func(r *analyticstest.Record) []view.UnitID {
		return one(view.UnitID{APIID: api, Path: r.Path, Alias: r.Version}, rest(r) && r.API == api && r.Version == "v1" && r.Tracked)
	})
	add("admin", "/api/activity/error?api_id="+api+"&api_version=v1", 100, 130, func(r *analyticstest.Record) []view.UnitID {
		return one(view.UnitID{APIID: api, Code: r.Code}, rest(r) && r.API == api && r.Version == "v1" && r.Code >= 400)
	})
	v1 := func(r *analyticstest.Record, as string) bool {
		return sees[as](r.API) && r.Version == "v1"
	}
	for _, as := range []string{"admin", "ann"} {
		add(as, "/api/usage?api_version=v1", 3, 33, func(r *analyticstest.Record) []view.UnitID { return one(at(r, time.UTC, "day"), rest(r) && v1(r, as)) })
		add(as, "/api/usage?api_version=v1&tags=gold", 3, 33, func(r *analyticstest.Record) []view.UnitID {
			return one(at(r, time.UTC, "day"), rest(r) && v1(r, as) && slices.Contains(r.Tags, "gold"))
		})
		add(as, "/api/usage/apis?api_version=v1", 3, 33, func(r *analyticstest.Record) []view.UnitID {
			return one(view.UnitID{APIID: r.API}, rest(r) && v1(r, as))
		})
		add(as, "/api/usage/mcp?api_version=v1", 3, 33, func(r *analyticstest.Record) []view.UnitID {
			return one(view.UnitID{APIID: r.API}, r.Sort == analyticstest.MCP && v1(r, as))
		})
		add(as, "/api/activity/error?api_version=v1", 3, 33, func(r *analyticstest.Record) []view.UnitID {
			return one(view.UnitID{Code: r.Code}, rest(r) && v1(r, as) && r.Code >= 400)
		})
		add(as, "/api/activity/geo?api_version=v1", 3, 33, func(r *analyticstest.Record) []view.UnitID {
			return one(view.UnitID{Country: r.Country}, rest(r) && v1(r, as) && r.Country != "")
		})
		add(as, "/api/activity/keys/aggregate/"+key+"?api_version=v1", 3, 33, func(r *analyticstest.Record) []view.UnitID {
			return one(at(r, time.UTC, "day"), rest(r) && v1(r, as) && r.Key == key)
		})
		endpoint := func(r *analyticstest.Record) view.UnitID {
			return view.UnitID{APIID: r.API, Path: r.Path, Alias: r.Version}
		}
		add(as, "/api/activity/endpoint?api_version=v1", 3, 33, func(r *analyticstest.Record) []view.UnitID {
			return one(endpoint(r), rest(r) && v1(r, as) && r.Tracked)
		})
		add(as, "/api/activity/endpoint?tags=gold", 3, 33, func(r *analyticstest.Record) []view.UnitID {
			return one(endpoint(r), rest(r) && sees[as](r.API) && slices.Contains(r.Tags, "gold") && r.Tracked)
		})
	}
	gold := func(r *analyticstest.Record) bool { return slices.Contains(r.Tags, "gold") }
	add("admin", "/api/usage?tags=gold", 0, 399, func(r *analyticstest.Record) []view.UnitID { return one(at(r, time.UTC, "day"), rest(r) && gold(r)) })
	add("admin", "/api/usage?tags=gold,quo%22ted&tags=comma'd", 0, 399, func(r *analyticstest.Record) (out []view.UnitID) {
		for _, tag := range r.Tags {
			if rest(r) && slices.Contains([]string{"gold", `quo"ted`, "comma'd"}, tag) {
				out = append(out, at(r, time.UTC, "day"))
			}
		}
		return out
	})
	silver := func(r *analyticstest.Record) bool { return slices.Contains(r.Tags, "sil&v.er") }
	add("admin", "/api/usage?tags=sil%26v.er", 0, 399, func(r *analyticstest.Record) []view.UnitID { return one(at(r, time.UTC, "day"), rest(r) && silver(r)) })
	add("admin", "/api/usage/apis?tags=sil%26v.er", 5, 35, func(r *analyticstest.Record) []view.UnitID {
		return one(view.UnitID{APIID: r.API}, rest(r) && silver(r))
	})
	add("ann", "/api/usage/apis?tags=gold,quo%22ted", 5, 35, func(r *analyticstest.Record) []view.UnitID {
		return one(view.UnitID{APIID: r.API}, rest(r) && sees["ann"](r.API) && (gold(r) || slices.Contains(r.Tags, `quo"ted`)))
	})
	add("ann", "/api/usage/mcp?tags=gold", 0, 399, func(r *analyticstest.Record) []view.UnitID {
		return one(view.UnitID{APIID: r.API}, r.Sort == analyticstest.MCP && sees["ann"](r.API) && gold(r))
	})
	return all
}

func primitive(r *analyticstest.Record) view.UnitID {
	if r.Primitive == "" {
		return view.UnitID{APIID: r.API, Path: r.Method, Alias: r.Method}
	}
	return view.UnitID{APIID: r.API, Path: r.Called, URL: r.Primitive, Alias: r.Method}
}

// TestViews calls every view on every database, and counts the expected results itself.
func TestViews(t *testing.T) {
	for name, open := range databases(t) {
		t.Run(name, func(t *testing.T) {
			made := traffic(strings.HasSuffix(name, "sharded"))
			w := newWorld(t, open(t), made.Make())
			w.whole = made.Days == 400
			for _, q := range questions(t) {
				w.check(q)
			}
		})
	}
}
