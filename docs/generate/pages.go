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
	fmt.Fprintf(&b, "# %s\n\nMade from the operation table by `make generate`. Not to be edited. [All operations](../operations.md)%s\n", tag, contract(tag, dir))
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
			fmt.Fprintf(&b, "\nThe answer, with status %d, is `%s`.\n", o.Status, media)
		} else if o.Example != nil {
			answer, err := httpadapter.Example(&o)
			if err == nil {
				err = sample(&b, fmt.Sprintf("Answer, status %d", o.Status), json.RawMessage(answer))
			}
			if err != nil {
				return "", err
			}
		}
		refusals(&b, o)
	}
	return b.String(), nil
}

// caller says whose call is admitted.
func caller(o operation.Operation) string {
	switch {
	case o.Public:
		return "anybody"
	case o.Brokers:
		return "admin secret or broker secret"
	case o.BySession:
		return "somebody who has logged in"
	case o.Surface == operation.Portal:
		return "admin of the portal"
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
	b.WriteString("\n| fault | status | text |\n|---|---|---|\n")
	for _, code := range o.Faults {
		a := o.Style.Faults[code]
		status, text := "", "says what is wrong"
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

Requests are bounded by size, values, nesting and time: see limits.* in [configuration.md](configuration.md). A body with too many
values is refused with 413: import in several parts, or raise limits.max_body_values and with it the memory of the machine. A write that would keep
all others waiting for longer than limits.write_time is refused with 503; send less at once. A large body that comes more slowly
than limits.body_rate is ended with 408. An organisation whose records take limits.organisation_bytes stores no more: changes but deletions get 507. With more than limits.connections connections of clients, those that have waited longest for their clients are closed. A listen path, domain or key of versions of an API, or a path of its document, that is longer than 4096 characters is refused with 400. The paths
of a description that is imported have 100000 parameters in all, and the variables of its servers make addresses of 8192 characters at most.

A page that shows a description of an API draws 500 operations, 200 fields of each, and 512 KiB of fields and 512 KiB of other texts in
all, for which it looks at 16 MiB (a reference counts its length each time that it is followed), and 1 MiB of a GraphQL schema as it is printed; a note says so when there is more. Markdown is drawn for the first 32 KiB of a text, unless it has more than 6,000 marks or tables of more
than 20,000 cells; what is not drawn is shown as it is.

What anybody may read on the portal, as a page or by its API, takes turns at all processors but one, network by network; a request whose turn does not come within
10 s is answered with 503 and Retry-After. No more than 1,000 requests wait for turns, or for memory: with one more, the last one of the network with the most of them gets 503 at once. A template runs for 2,000,000 steps (actions of the template; a call of a function of the portal counts 100), and for 30 s at most.

Lists are bounded besides, because each entry may become a row that the one writer stores while others wait. The figures
are far above what configurations have. A longer list is refused with 400; the answer names the field and the figure.
In a field, * stands for each member or item.

` + caps.Markdown()
}
