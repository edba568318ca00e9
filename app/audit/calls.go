package audit

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// call is a call that made no commit, or the last of several equal ones with their
// count.
type call struct {
	key    callKey
	record audit.Record
}

// callKey says which calls are equal.
type callKey struct{ org, from, actor, operation, verdict string }

// maxCalls bounds how many different calls wait for the next fold.
const maxCalls = 500

// maxReads bounds how many reads wait as well: they never take the room of other calls.
const maxReads = 5000

// maxEqual is how many equal refusals are recorded one by one until the next fold,
// while there is room for others. Further ones are only counted.
const maxEqual = 20

// calls holds the calls that wait for the next fold. Of many equal calls the last has a
// count; of too many different ones only the number is kept.
type calls struct {
	mu      sync.Mutex
	list    []call
	equal   map[callKey]equals
	dropped int
	room    int // how many calls wait at most

	dumps  dumps
	weight int // bytes of all waiting dumps
	bare   int // number of dumps for which there was no room
}

// Hear is an auditor of the guard. For the next fold it keeps refused calls, writes
// that made no commit and, with Reads, reads. With detailed recording it also keeps
// dumps of the calls whose commits are recorded.
func (s *Service) Hear(ctx context.Context, c *operation.Call, err error) {
	if !s.keeps {
		return
	}
	told := tells(ctx, c, err)
	read := !told && s.Reads && c.Spec.Intent == access.Read && !c.Spec.Public && (c.Spec.Surface == operation.Management || c.Spec.Surface == operation.Admin)
	told, read = told || read, read && !c.Spec.Unrouted // many equal calls of unknown paths are counted
	detailed := s.Detailed && c.Answered != nil && c.Spec.Surface != operation.Node
	if !told && !(detailed && store.Written(ctx)) {
		return
	}
	r := s.record(c, err)
	if !detailed {
		s.calls.add(r, read)
		return
	}
	c.Answered(func(m operation.Transcript) {
		// A response that refuses a secret may quote the secret, so it is recorded
		// without its body. Of responses of portals only the length is recorded: they
		// have data about people, which can be erased, while audit records cannot.
		if m.Status >= http.StatusBadRequest && len(c.Spec.Redact) > 0 {
			m.Body = nil
		}
		r.RequestDump = audit.DumpRequest(audit.Message{Start: r.Method + " " + r.URL + " " + m.Protocol, Header: m.Header})
		r.ResponseDump = audit.DumpResponse(audit.Message{
			Start: m.Protocol + " " + strconv.Itoa(m.Status) + " " + http.StatusText(m.Status), Header: m.Answers, Body: m.Body,
			Brief: c.Spec.Surface == operation.Portal}, c.Spec.Redact)
		if told {
			s.calls.add(r, read)
		} else {
			s.calls.dump(r, c.Spec.Public)
		}
		if s.calls.heavy() {
			select {
			case s.wake <- struct{}{}:
			default: // Run is woken already
			}
		}
	})
}

// record returns the audit record of a call.
func (s *Service) record(c *operation.Call, err error) audit.Record {
	by := guard.Described(guard.Attribution(c), c)
	r := audit.Record{
		ReqID: by.Request, OrgID: cmp.Or(c.Scope.Org(), c.Principal.OrgID), IP: by.From, User: by.User, Action: c.Spec.Summary, Method: by.Method, URL: by.URL,
		Status: by.Status, Actor: by.Actor, Behalf: c.Scope.Reason(), Operation: by.Operation, Verdict: audit.Allowed,
	}
	if err != nil {
		r.Verdict = fault.CodeOf(err)
		if r.Status = 0; c.Status != nil {
			r.Status = c.Status(err)
		}
	}
	return r.At(s.now())
}

// tells reports whether a call is recorded although it made no commit: it was refused,
// or it is a write.
func tells(ctx context.Context, c *operation.Call, err error) bool {
	read := c.Spec.Intent == access.Read
	if err == nil {
		return !read && c.Spec.Surface != operation.Node && !store.Written(ctx) && !operation.Rehearses(c)
	}
	switch fault.KindOf(err) {
	case fault.Unauthenticated, fault.Denied, fault.TooMany:
		return true
	}
	return !read
}

// equals is how many calls with one key wait, and where the last of them is.
type equals struct {
	last, n int // last is the index of the last one, n the number
}

// push appends a call to the list. The caller holds the lock.
func (q *calls) push(c call) {
	if q.equal == nil {
		q.equal = map[callKey]equals{}
	}
	q.equal[c.key] = equals{len(q.list), q.equal[c.key].n + 1}
	q.list = append(q.list, c)
}

// add keeps a call. Further refusals that equal earlier ones are only counted.
func (q *calls) add(r audit.Record, read bool) {
	k := callKey{string(r.OrgID), r.IP, r.Actor, r.Operation, r.Verdict}
	q.mu.Lock()
	defer q.mu.Unlock()
	weight := len(r.RequestDump) + len(r.ResponseDump)
	if q.weight+weight > maxDumps {
		weight, r.RequestDump, r.ResponseDump = 0, "", ""
		q.bare++
	}
	room := q.room
	if read {
		room -= maxCalls
	}
	same := q.equal[k]
	switch many := same.n >= maxEqual || len(q.list) >= maxCalls/2; {
	case same.n > 0 && many && r.Verdict != audit.Allowed && !read:
		last := &q.list[same.last].record
		last.Count = max(1, last.Count) + 1
	case len(q.list) >= room:
		q.dropped++
	default:
		q.push(call{k, r})
		q.weight += weight
	}
}

// take returns and removes the waiting calls and dumps. A last record has the number of
// calls for which there was no room.
func (q *calls) take(log *slog.Logger) (out []call, dumps dumps) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bare > 0 {
		log.Warn("audit records have no dumps: too many calls came at once", "records", q.bare)
	}
	out, dumps = q.list, q.dumps
	if q.dropped > 0 && len(out) > 0 {
		out = append(out, call{record: audit.Record{Action: "Calls of which only the number is known", Actor: Operation, Operation: Operation,
			Verdict: "audit.too_many", Count: q.dropped}.At(out[len(out)-1].record.Time())})
	}
	q.list, q.equal, q.dropped, q.dumps, q.weight, q.bare = nil, nil, 0, nil, 0, 0
	return out, dumps
}

// back returns calls and dumps that could not be recorded to the front, before newer
// ones, as far as there is room.
func (q *calls) back(list []call, older dumps) {
	q.mu.Lock()
	defer q.mu.Unlock()
	newer := q.dumps
	q.dumps, q.weight = nil, 0
	for _, c := range q.list {
		q.weight += len(c.record.RequestDump) + len(c.record.ResponseDump)
	}
	for _, all := range []dumps{older, newer} {
		for k, list := range all {
			for _, r := range list {
				q.keep(k, r)
			}
		}
	}
	all := slices.Concat(list, q.list)
	q.list, q.equal = nil, nil
	for _, c := range all {
		if len(q.list) >= q.room {
			q.dropped += max(1, c.record.Count)
			continue
		}
		q.push(c)
	}
}
