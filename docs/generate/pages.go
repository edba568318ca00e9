package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// pages returns a page for each group of resources, by file name.
func pages(ops []operation.Operation, dir string) (map[string][]byte, error) {
	groups := map[string][]operation.Operation{}
	for _, o := range ops {
		groups[o.Tag] = append(groups[o.Tag], o)
	}
	files := map[string][]byte{}
	for tag, list := range groups {
		slices.SortStableFunc(list, func(a, b operation.Operation) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID))
		})
		text, err := page(tag, list, dir)
		if err != nil {
			return nil, err
		}
		files[pageName(tag)] = []byte(text)
	}
	return files, nil
}

// pageName is where the page of a group is, below docs.
func pageName(tag string) string {
	return "operations/" + strings.ReplaceAll(strings.ToLower(tag), " ", "-") + ".md"
}

func page(tag string, ops []operation.Operation, dir string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nRequests, responses and errors of these operations, for authors of clients. Generated from the operation table by `make generate`; do not edit.\n\n[All operations](../operations.md)%s\n", tag, contract(tag, dir))
	for _, o := range ops {
		fmt.Fprintf(&b, "\n## %s\n\n`%s %s` · `%s` · %s\n", o.Summary, o.Method, o.Path, o.ID, caller(o))
		if o.Notes != "" {
			fmt.Fprintf(&b, "\n%s\n", o.Notes)
		}
		parameters(&b, o)
		if err := sample(&b, "Request", o.Request); err != nil {
			return "", err
		}
		if media := httpadapter.MediaType(&o); media != "application/json" {
			fmt.Fprintf(&b, "\nResponse, status %d: `%s`.\n", o.Status, media)
		} else if o.Example != nil {
			answer, err := httpadapter.Example(&o)
			if err == nil {
				err = sample(&b, fmt.Sprintf("Response, status %d", o.Status), json.RawMessage(answer))
			}
			if err != nil {
				return "", err
			}
		}
		refusals(&b, o)
	}
	return b.String(), nil
}

// caller names the callers that an operation admits.
func caller(o operation.Operation) string {
	switch {
	case o.Public:
		return "public"
	case o.Brokers:
		return "admin secret or broker secret"
	case o.BySession:
		return "portal user with a session"
	case o.Surface == operation.Portal:
		return "portal admin"
	case o.Surface != operation.Management:
		return string(o.Surface) + " secret"
	case o.Permission == "*":
		return "any user"
	}
	level := ":write" // a permission map knows no other one
	if o.Intent == access.Read {
		level = ":read"
	}
	if o.Own != "" {
		level += ", or the user itself"
	}
	return string(o.Permission) + level
}

func parameters(b *strings.Builder, o operation.Operation) {
	if len(o.Params) == 0 {
		return
	}
	b.WriteString("\n| parameter | where | type | meaning |\n|---|---|---|---|\n")
	for _, p := range o.Params {
		meaning := p.Doc
		if len(p.OneOf) > 0 {
			meaning += " One of: `" + strings.Join(p.OneOf, "`, `") + "`."
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.Name, p.In, typeName(p), strings.ReplaceAll(meaning, "|", `\|`))
	}
}

func typeName(p operation.Param) string {
	name := cmp.Or(p.Is, "string")
	switch p.Type.Kind() {
	case reflect.Int:
		name = "integer"
	case reflect.Bool:
		name = "boolean"
	}
	if p.Required && p.In != "path" {
		name += ", required"
	}
	return name
}

func sample(b *strings.Builder, title string, v any) error {
	if v == nil {
		return nil
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		fmt.Fprintf(b, "\n%s:\n\n```json\n%s\n```\n", title, text)
	}
	return err
}

// refusals lists what an operation answers to the faults it declares.
func refusals(b *strings.Builder, o operation.Operation) {
	if len(o.Faults) == 0 {
		return
	}
	b.WriteString("\n| error code | status | text |\n|---|---|---|\n")
	for _, code := range o.Faults {
		a := o.Style.Faults[code]
		status, text := "", "depends on the problem"
		if n := httpadapter.StatusOf(&o, code); n != 0 {
			status = fmt.Sprint(n)
		}
		if a.Text != "" {
			text = "`" + a.Text + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", code, status, text)
	}
}

// limits returns the page about what requests may contain.
func limits() string {
	return `# Limits

This page lists the limits of requests for people who write clients or run the service.

The settings limits.* bound the size, the number of values, the nesting and the time of a request: see [configuration.md](configuration.md).

| request | response | what to do |
|---|---|---|
| a body with more values than limits.max_body_values | 413 | import in several parts, or raise the setting and the memory of the machine |
| a write that keeps other writes waiting for longer than limits.write_time | 503 | send less in one request |
| a large body that arrives more slowly than limits.body_rate | 408 | send faster |
| a change other than a deletion, when the records of the organisation take limits.organisation_bytes | 507 | delete records, or raise the setting |
| a listen path, domain or version key of an API, or a path in its document, longer than 4096 characters | 400 | shorten it |

With more than limits.connections client connections, the service closes those that have waited longest for their clients.
An imported description may have 100000 path parameters in all. An address made of a server and its variables may have 8192 characters.

A page that shows an API description renders at most 500 operations, 200 fields of each, 512 KiB of fields, 512 KiB of other texts and
1 MiB of a printed GraphQL schema. It reads at most 16 MiB of the description for that; a reference counts its length each time it is followed.
A note on the page says when something is left out. Only the first 32 KiB of a Markdown text are rendered, and none of a text with more than
6,000 marks or with tables of more than 20,000 cells. The page shows the rest as plain text.

Portal reads, as pages or through its API, are scheduled over all processors but one, and client networks take turns. A request that gets no turn within
10 s is answered with 503 and Retry-After. At most 1,000 requests wait for a turn or for memory. With one more, the newest waiting request of the network that has the most of them
gets 503 at once. A template may run 2,000,000 steps and 30 s. Each action is a step; a call of a portal function counts as 100.

Lists have limits of their own, because each entry may become a row, and other writes wait while one is stored. The limits
are far above what real configurations need. A longer list is refused with 400; the response names the field and the limit.
In a field, * stands for each member or item.

` + caps.Markdown()
}
