package audit

import (
	"bytes"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// filed is a record in its form for files: without its place in a stored trail.
type filed struct {
	ReqID        string       `json:"req_id"`
	OrgID        tenant.ID    `json:"org_id"`
	Date         string       `json:"date"`
	Timestamp    int64        `json:"timestamp"`
	IP           string       `json:"ip"`
	User         string       `json:"user"`
	Action       string       `json:"action"`
	Method       string       `json:"method"`
	URL          string       `json:"url"`
	Status       int          `json:"status"`
	Diff         []Difference `json:"diff,omitempty"`
	RequestDump  string       `json:"request_dump,omitempty"`
	ResponseDump string       `json:"response_dump,omitempty"`
	Actor        string       `json:"actor"`
	Behalf       string       `json:"on_behalf_of"`
	Operation    string       `json:"operation"`
	Subjects     []Subject    `json:"subjects,omitempty"`
	More         int          `json:"more,omitempty"`
	Verdict      string       `json:"verdict"`
	Count        int          `json:"count,omitempty"`
}

// JSON returns a record as a line of a file.
func (r Record) JSON() []byte {
	r.bound()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(filed{r.ReqID, r.OrgID, r.Date, r.Timestamp, r.IP, r.User, r.Action, r.Method, r.URL, r.Status, r.Diff,
		r.RequestDump, r.ResponseDump, r.Actor, r.Behalf, r.Operation, r.Subjects, r.More, r.Verdict, r.Count}) // its differences are JSON
	return b.Bytes()
}

// Text returns a record as text: a line for each field, and an empty line. Texts of callers
// cannot begin a line: line breaks are escaped as in JSON.
func (r Record) Text() []byte {
	var b bytes.Buffer
	o, _ := doc.LoadObject(r.JSON()) // it was written just now
	for name, value := range o.All() {
		b.WriteString(name)
		b.WriteString(": ")
		if value[0] == '"' {
			value = value[1 : len(value)-1]
		}
		b.Write(value)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.Bytes()
}
