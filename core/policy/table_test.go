package policy_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
)

// extra are the members of a policy that gateways do not know.
const extra = `
date_created time
state string
auth_type string
auth_types[] string
graphql_enabled bool
access_rights_array[].api_id string
access_rights_array[].mcp_access_rights.tools.allowed[] string
access_rights.{}.limit.set_by_policy bool
`

// wrong are values that each type refuses.
var wrong = map[string][]string{
	"string": {`1`, `true`, `[]`, `{}`}, "bool": {`"true"`, `0`, `[]`}, "integer": {`1.0`, `1e3`, `"1"`, `9223372036854775808`, `true`},
	"number": {`"1"`, `true`, `{}`, `1e999`}, "id": {`"12"`, `7`, `"zzzzzzzzzzzzzzzzzzzzzzzz"`}, "any": {`1e999`}, "time": {`1`, `"yesterday"`},
	"list": {`"a"`, `{}`, `1`}, "object": {`"a"`, `[]`, `true`},
}

// spelt are whole numbers as written by clients with only one type of numbers.
var spelt = map[string]bool{`1.0`: true, `1e3`: true}

// TestTable tests every field of a policy: a wrong value is refused, on a write and in the
// feed, with its path; null is not.
func TestTable(t *testing.T) {
	fields, err := os.ReadFile("../../e2e/gatewaysim/fields/policy.txt") // written independently of the table
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(fields) + extra) {
		path, kind, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(path, "#") {
			continue
		}
		seen++
		if wrong[kind] == nil {
			t.Fatalf("what is a %s?", kind)
		}
		for _, value := range wrong[kind] {
			refuse(t, path, value)
		}
		for part := path; ; { // the enclosing objects
			if inner, list := strings.CutSuffix(part, "[]"); list {
				part = inner
				for _, value := range wrong["list"] {
					refuse(t, part, value)
				}
				continue
			}
			i := strings.LastIndex(part, ".")
			if i < 0 {
				break
			}
			part = part[:i]
			for _, value := range wrong["object"] {
				if !strings.HasSuffix(part, "[]") || value != "[]" {
					refuse(t, part, value)
				}
			}
		}
		accept(t, path)
	}
	if seen < 90 {
		t.Errorf("only %d fields", seen)
	}
}

// place returns a document with a value at a path such as a.{}.b[].c.
func place(path, value string) (text, at string) {
	var open, shut, where strings.Builder
	for i, part := range strings.Split(path, ".") {
		name := strings.TrimRight(part, "[]")
		if name == "{}" {
			name = "key"
		}
		if i > 0 {
			where.WriteString(".")
		}
		where.WriteString(name)
		fmt.Fprintf(&open, `{"%s":`, name)
		tail := "}"
		for range strings.Count(part, "[]") {
			open.WriteString("[")
			where.WriteString("[0]")
			tail = "]" + tail
		}
		rest := shut.String()
		shut.Reset()
		shut.WriteString(tail + rest)
	}
	return open.String() + value + shut.String(), where.String()
}

// owned are the members that the server overwrites.
var owned = map[string]bool{"_id": true, "org_id": true, "last_updated": true, "date_created": true}

func refuse(t *testing.T, path, value string) {
	t.Helper()
	text, at := place(path, value)
	n, err := doc.ParseNode([]byte(text))
	if err != nil {
		t.Fatal(text, err)
	}
	if problems := policy.Table.Check(n); len(problems) != 1 || problems[0].Path != at {
		t.Errorf("%s: %v, want one at %s", text, problems, at)
	}
	if owned[path] {
		return
	}
	n.Set("name", doc.NewString("n"))
	if path == "name" {
		n, _ = doc.ParseNode([]byte(text))
	}
	_, err = policy.New(id, "org", now, draft(t, string(n.JSON())), rules)
	if spelt[value] { // a draft writes it as a whole number where one is expected
		if policy.Table.Whole(n); policy.Table.Check(n) == nil {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			return
		}
	}
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Invalid || f.Field != at || !strings.Contains(f.Message, at) {
		t.Errorf("%s: %v, want a fault at %s", text, err, at)
	}
}

func accept(t *testing.T, path string) {
	t.Helper()
	text, _ := place(path, "null")
	n := doctest.Node(t, text)
	if problems := policy.Table.Check(n); problems != nil {
		t.Errorf("%s: %v", text, problems)
	}
}
