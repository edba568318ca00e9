package datagraph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/description/datagraph"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// names are valid, invalid and reserved names.
var names = []string{"id", "Pet", "PetInput", "Query", "JSON", "first name", "first_name", "__typename", "7", "größe", "a.b", "a/b", "null", "Enum2", "query", strings.Repeat("long", 40)}

// chance is a pseudo-random sequence that depends only on its start.
type chance struct{ state uint64 }

// IntN returns a number of at least 0 and less than n.
func (c *chance) IntN(n int) int {
	c.state = c.state*6364136223846793005 + 1442695040888963407
	return int(c.state>>33) % n
}

func (c *chance) of(list ...string) string { return list[c.IntN(len(list))] }

func (c *chance) ref() string {
	return fmt.Sprintf(`{"$ref":"#/components/schemas/%s"}`, strings.ReplaceAll(c.of(names...), "/", "~1"))
}

// schema returns a schema, usually of a known form and sometimes of another.
func (c *chance) schema(depth int) string {
	if depth == 0 {
		return c.of(c.ref(), c.ref(), `{"type":"string"}`, `{"type":["integer","null"]}`, `{}`, `true`, `{"enum":["a","b"]}`, `{"type":"string","enum":["true","x"]}`, `7`, `{"type":"null"}`)
	}
	s := func() string { return c.schema(depth - 1) }
	switch c.IntN(7) {
	case 0:
		return `{"type":"array","items":` + s() + `}`
	case 1:
		return fmt.Sprintf(`{"%s":[%s,%s]}`, c.of("oneOf", "anyOf", "allOf"), s(), c.of(s(), `{"type":"null"}`))
	case 2:
		return fmt.Sprintf(`{"%s":[%s]%s}`, c.of("oneOf", "allOf"), s(), c.of("", `,"nullable":true`, `,"properties":{"x":{}}`))
	case 3:
		return c.schema(0)
	}
	var b strings.Builder
	for i := range c.IntN(5) {
		b.WriteString([]string{"", ","}[min(i, 1)])
		fmt.Fprintf(&b, "%q:%s", c.of(names...), s())
	}
	return fmt.Sprintf(`{"type":"object","required":[%q,%q],"properties":{%s}}`, c.of(names...), c.of(names...), b.String())
}

func (c *chance) document() string {
	var schemas, paths, channels []string
	for _, n := range names {
		schemas = append(schemas, fmt.Sprintf("%q:%s", n, c.schema(c.IntN(4))))
	}
	for i := range 1 + c.IntN(4) {
		content := func() string { return `"content":{"application/json":{"schema":` + c.schema(2) + `}}` }
		param := func(in string) string {
			return fmt.Sprintf(`{"in":%q,"name":%q,"required":%t,"schema":%s}`, in, c.of(names...), c.IntN(2) > 0, c.schema(1))
		}
		paths = append(paths, fmt.Sprintf(`"/p%d/{%s}":{"%s":{"operationId":%q,"parameters":[%s,%s],"requestBody":{"required":true,%s},"responses":{"200":{%s}}}}`,
			i, c.of("id", "Pet", "first name", "7"), c.of("get", "post", "put"), c.of(names...), param("path"), param("query"), content(), content()))
		channels = append(channels, fmt.Sprintf(`"c%d.{%s}":{"subscribe":{"operationId":%q,"message":{"payload":%s}}}`, i, c.of("id", "7", "a.b"), c.of(names...), c.schema(2)))
	}
	return fmt.Sprintf(`{"openapi":"3.1.0","asyncapi":"2.3.0","info":{"title":%q},"servers":%s,"paths":{%s},"channels":{%s},"components":{"schemas":{%s}}}`,
		c.of(names...), "%s", strings.Join(paths, ","), strings.Join(channels, ","), strings.Join(schemas, ","))
}

// The result for any description is sound, and always the same.
func TestRandom(t *testing.T) {
	made := 0
	for seed := range uint64(500) {
		c := &chance{state: seed}
		text := c.document()
		open, async := doctest.Node(t, fmt.Sprintf(text, `[{"url":"https://t"}]`)), doctest.Node(t, fmt.Sprintf(text, `{"k":{"url":"k:1","protocol":"kafka"}}`))
		n, errOpen := datagraph.FromOpenAPI(open)
		m, errAsync := datagraph.FromAsyncAPI(async)
		if errOpen == nil {
			made++
			sound(t, n)
			if again, _ := datagraph.FromOpenAPI(open); string(again.JSON()) != string(n.JSON()) {
				t.Error("another definition the second time")
			}
		}
		if errAsync == nil {
			made++
			sound(t, m)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, text)
		}
	}
	if made < 500 {
		t.Errorf("only %d descriptions became graphs", made)
	}
}
