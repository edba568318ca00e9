// Package feed makes the feeds for gateways from stored records. A gateway refuses a whole
// feed because of one value of the wrong type, and crashes on an entry without a definition
// (docs/wire/gateway-nodes.md#rules-that-matter-most). So an entry is made only if nothing in
// it can cause this.
package feed

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

// Entry is one element of a feed, made from one record. The zero Entry is for a record that
// gateways do not load.
type Entry struct {
	Text     []byte          // JSON; nil: gateways do not get it
	Name     string          // identifier for gateways, if no other entry has it; also set without Text
	Since    time.Time       // when the record was created
	Other    []byte          // JSON with another identifier, in case Name is taken; nil: there is none
	Problems []shape.Problem // why gateways do not get it although they should
}

// Of returns the entry with a text, unless there are problems with it.
func Of(text []byte, problems []shape.Problem) Entry {
	if len(problems) > 0 {
		return Entry{Problems: problems}
	}
	return Entry{Text: text}
}

// Broken returns the entry of a record that cannot be decoded.
func Broken(want string) Entry {
	return Entry{Problems: []shape.Problem{{Want: want, Got: "something that cannot be read"}}}
}

// LeftOut is a record that gateways should get and do not get.
type LeftOut struct {
	Kind     string          `json:"kind"`
	ID       string          `json:"id"`
	OrgID    tenant.ID       `json:"org_id"`
	Revision uint64          `json:"-"` // of the record; not for users, because it reveals how much other organisations write
	Problems []shape.Problem `json:"problems"`
}

// Hooks returns the webhook with an identifier; false: there is none.
type Hooks func(id string) (webhook.Hook, bool)

// API returns the entry of an API: the classic definition, with webhooks resolved, and the
// document (docs/wire/feeds.md#apis). An inactive API has no text. record is a stored API, an
// object with any content.
func API(record doc.Object, hooks Hooks) Entry {
	definition, _ := record.Get("api_definition")
	def, err := doc.ParseNode(definition)
	if err != nil {
		return Broken("a JSON object in api_definition")
	}
	created, _ := record.Get("created_at")
	since, _ := time.Parse(`"`+time.RFC3339Nano+`"`, string(created)) // an API without a time has the zero time
	e := Entry{Name: def.Get("api_id").Text(), Since: since}
	if active := def.Get("active"); def.Is(doc.TypeObject) && active.Is(doc.Absent, doc.TypeNull, doc.TypeBool) && !active.True() {
		return e
	}
	problems := within("api_definition", classic.Check(def))
	var oas *doc.Node // nil is encoded as null
	if document, ok := record.Get("oas"); ok && !doc.IsNull(document) {
		if oas, err = doc.ParseNode(document); err != nil {
			return Broken("a JSON object in oas")
		}
		problems = append(problems, within("oas", Document(oas))...)
	}
	if len(problems) > 0 {
		e.Problems = problems
		return e
	}
	references, _ := record.Get("hook_references")
	resolve(def, references, hooks)
	// Gateways fetch keys from a plain URL once and never again: the URL must be in base64
	// (docs/wire/classic-definition.md#jwt).
	if source := def.Get("jwt_source").Text(); classic.IsAddress(source) {
		def.Set("jwt_source", doc.NewString(base64.StdEncoding.EncodeToString([]byte(source))))
	}
	// When gateways search for a version or the target of a loop, they cut the names of all APIs
	// one character before "#": a name that begins with "#" makes them fail
	// (docs/wire/feeds.md#apis).
	if name := def.Get("name").Text(); strings.HasPrefix(name, "#") {
		def.Set("name", doc.NewString(" "+name))
	}
	b, _ := def.AppendJSON([]byte(`{"api_definition":`)) // trees always encode
	b, _ = oas.AppendJSON(append(b, `,"oas":`...))
	e.Text = append(b, '}')
	return e
}

// within adds a member as prefix to the paths of problems.
func within(member string, problems []shape.Problem) []shape.Problem {
	for i, p := range problems {
		if p.Path == "" {
			problems[i].Path = member
			continue
		}
		problems[i].Path = member + "." + p.Path
	}
	return problems
}
