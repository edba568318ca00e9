package main

import (
	"context"
	"errors"
)

// upsertRows measures one upsert with 1, 8 and 64 clients per back end.
func upsertRows(ctx context.Context, b *bench) (rows []row, err error) {
	return b.onEach(ctx, upsertsOn, inMemory, onSQLite, onPostgres)
}

// upserts are the ways to write that are measured on every back end.
var upserts = []struct {
	figure  string
	id      string
	clients int
	shared  bool
	direct  bool
}{
	{"use case, 1 client", "use/1", 1, false, false},
	{"use case, 8 clients", "use/8", 8, false, false},
	{"use case, 64 clients", "use/64", 64, false, false},
	{"use case, 8 clients on one record", "one/8", 8, true, false},
	{"use case, 64 clients on one record", "one/64", 64, true, false},
	{"store alone, 1 client", "store/1", 1, false, true},
	{"store alone, 8 clients", "store/8", 8, false, true},
	{"store alone, 64 clients", "store/64", 64, false, true},
}

func upsertsOn(ctx context.Context, b *bench, k backend) (rows []row, err error) {
	o, w, done, err := b.worldOn(ctx, k)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := w.seed(ctx, "corp", 64, 10); err != nil {
		return nil, err
	}
	file, closeFile, err := b.appendFile()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeFile()) }()
	cs := []contestant{file}
	for _, u := range upserts {
		c := w.put("corp", u.clients, u.shared)
		if u.direct {
			c = w.edit("corp", u.clients)
		}
		cs = append(cs, c)
	}
	if o.bare != nil {
		c, err := bareCommit(ctx, o.bare, 10, everyMapping)
		if err != nil {
			return nil, err
		}
		cs = append(cs, c)
	}
	results, err := b.race(ctx, "upsert, "+k.name, cs...)
	if err != nil {
		return nil, err
	}
	return upsertTable(k, results, o.bare != nil), nil
}

// upsertTable turns results into rows: results contain the append, the upserts in their
// order and, if there is one, the bare commit.
func upsertTable(k backend, results []series, bare bool) (rows []row) {
	one := map[bool]series{} // the single client, by whether it uses the use case
	for i, u := range upserts {
		s := results[i+1]
		r := row{id: "upsert/" + k.name + "/" + u.id, figure: k.name + ": " + u.figure, value: significant(s.rate()), unit: "writes/s", allocs: median(s.allocs)}
		if bare {
			commit := s.over(results[len(results)-1])
			r.ratios = append(r.ratios, ratio{commit, "bare commit"})
			if u.clients == 1 && k.name == onSQLite.name {
				r.aim = atLeast(commit, 0.9, "× bare commit")
			}
		}
		r.ratios = append(r.ratios, ratio{s.over(results[0]), "append"})
		if u.clients == 1 {
			one[u.direct] = s
		} else {
			times := s.over(one[u.direct])
			r.ratios = append(r.ratios, ratio{times, "1 client"})
			if u.clients == 64 && !u.shared && k.name == onSQLite.name {
				r.aim = atLeast(times, 10, "× 1 client")
			}
		}
		rows = append(rows, r)
	}
	return rows
}
