package audit

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type listIn struct {
	Scope tenant.Scope
	operation.Paging
	User     string `query:"user" doc:"E-mail address of the user; exact match."`
	Action   string `query:"action" doc:"Name of the action; exact match."`
	IP       string `query:"ip" doc:"IP address of the caller; exact match."`
	Method   string `query:"method" doc:"HTTP method; exact match."`
	Status   string `query:"status" is:"integer" doc:"Status of the response."`
	URL      string `query:"url" doc:"Part of the URL; case-sensitive."`
	From     string `query:"from_date" doc:"First day, YYYY-MM-DD in UTC."`
	To       string `query:"to_date" doc:"Last day, YYYY-MM-DD in UTC."`
	Download bool   `query:"download" doc:"true: the response is a file with all records."`
	Type     string `query:"type" oneof:"json,csv" doc:"Format of the file. Default: json."`
}

// filter is the condition of a list, from the parameters of the request.
type filter struct {
	listIn
	status   int
	from, to int64 // Unix seconds; to is exclusive
	any      bool  // no parameter filters
}

// newFilter reads the parameters of a list.
func newFilter(in listIn) (filter, error) {
	f := filter{listIn: in, to: 1<<62 - 1, any: in.User+in.Action+in.IP+in.Method+in.Status+in.URL+in.From+in.To == ""}
	bad := func(name, want string) (filter, error) {
		return f, fault.New(fault.Invalid, CodeFilter, "query parameter %s must be %s", name, want).At(name)
	}
	var err error
	if in.Status != "" {
		if f.status, err = strconv.Atoi(in.Status); err != nil {
			return bad("status", "a whole number")
		}
	}
	for name, text := range map[string]string{"from_date": in.From, "to_date": in.To} {
		if text == "" {
			continue
		}
		day, err := time.Parse(time.DateOnly, text)
		switch {
		case err != nil:
			return bad(name, "a day as YYYY-MM-DD")
		case name == "from_date":
			f.from = day.Unix()
		default:
			f.to = day.AddDate(0, 0, 1).Unix()
		}
	}
	if !slices.Contains([]string{"", "json", "csv"}, in.Type) {
		return bad("type", "json or csv")
	}
	return f, nil
}

func (f *filter) admits(r audit.Record) bool {
	for _, c := range [...][2]string{{f.User, r.User}, {f.Action, r.Action}, {f.IP, r.IP}, {f.Method, r.Method}} {
		if c[0] != "" && c[0] != c[1] {
			return false
		}
	}
	return (f.Status == "" || f.status == r.Status) && strings.Contains(r.URL, f.URL) && r.Timestamp >= f.from && r.Timestamp < f.to
}

// maxAnswer bounds the bytes of the records in one response.
const maxAnswer = 64 << 20

// List returns a page of the records of the caller's organisation, or all of them as a
// file.
func (s *Service) List(ctx context.Context, in listIn) (listing, error) {
	f, err := newFilter(in)
	if err != nil {
		return listing{}, err
	}
	from, to, err := in.Bounds(s.pageSize)
	if err != nil {
		return listing{}, err
	}
	if in.Download {
		from, to = 0, operation.AllItems
	}
	out := listing{csv: in.Type == "csv", download: in.Download}
	total := 0
	err = s.reading(ctx, in.Scope, func(r store.Reader) (err error) {
		out.lines, total, err = s.collect(ctx, r, f, from, to)
		return err
	})
	out.pages = 1
	if to != operation.AllItems {
		out.pages = max(1, (total+s.pageSize-1)/s.pageSize)
	}
	return out, err
}

// collect returns the records of places from and to among those that match a filter,
// the newest first, and how many match.
func (s *Service) collect(ctx context.Context, r store.Reader, f filter, from, to int) (out [][]byte, total int, err error) {
	bytes := 0
	for v, err := range segments.Find(ctx, r, store.Query{Desc: true}) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, 0, err
		}
		c := v.Value.Checkpoint
		if n := int(c.Seq + 1 - c.First); f.any && (total+n <= from || total >= to) {
			total += n
			continue
		}
		lines, err := v.Value.Lines()
		if err != nil {
			continue // verification reports the damage; the other records can be read
		}
		for _, l := range slices.Backward(slices.Collect(lines)) {
			var rec audit.Record
			if json.Unmarshal(l, &rec) != nil || rec.OrgID != f.Scope.Org() || !f.admits(rec) {
				continue
			}
			if total >= from && total < to {
				if bytes += len(l); bytes > s.most {
					return nil, 0, fault.New(fault.Invalid, CodeTooMany, "there are too many records for one response: limit them with from_date and to_date").At("from_date")
				}
				out = append(out, l)
			}
			total++
		}
	}
	return out, total, nil
}

// listing is the response to a list: a page, or a file.
type listing struct {
	lines         [][]byte
	pages         int
	csv, download bool
}

// page is the JSON form of a page.
type page struct {
	Records []audit.Record `json:"audit_logs"`
	Pages   int            `json:"pages" doc:"Number of pages."`
}

// Like returns a value with the form of the response when it is no file.
func (listing) Like() any { return page{} }

// Download implements operation.File.
func (l listing) Download() string {
	switch {
	case !l.download:
		return ""
	case l.csv:
		return "audit-logs.csv"
	}
	return "audit-logs.json"
}

// Stream implements operation.Stream. A page has the texts of the records exactly as
// they were hashed.
func (l listing) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	switch {
	case l.download && l.csv:
		return "application/octet-stream", "", [][]byte{table(l.lines)}, nil
	case l.download:
		return "application/octet-stream", "", [][]byte{[]byte("["), bytes.Join(l.lines, []byte(",\n")), []byte("]\n")}, nil
	}
	return "application/json", "", [][]byte{[]byte(`{"audit_logs":[`), bytes.Join(l.lines, []byte(",")), []byte(`],"pages":` + strconv.Itoa(l.pages) + "}\n")}, nil
}

// columns are the columns of the file of comma-separated values.
var columns = []string{"_id", "req_id", "org_id", "date", "timestamp", "ip", "user", "action", "method", "url", "status", "diff", "request_dump", "response_dump", "actor", "on_behalf_of", "operation", "subjects", "verdict", "count", "prev", "hash"}

// table writes records as comma-separated values (RFC 4180).
func table(lines [][]byte) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(columns) // writing to memory does not fail
	row := make([]string, len(columns))
	for _, l := range lines {
		var members map[string]json.RawMessage
		_ = json.Unmarshal(l, &members) // the text was decoded before
		for i, name := range columns {
			row[i] = cell(members[name])
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.Bytes()
}

// cell formats a JSON value as a cell. Some of the texts are chosen by callers.
func cell(v json.RawMessage) string {
	var text string
	if json.Unmarshal(v, &text) != nil {
		text = string(v)
	}
	return view.Cell(text)
}
