package oas

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// middleware is a block of an operation with its endpoint list.
type middleware struct {
	block, list string
	section     *section
	isList      bool // the block is a list, and only its first item counts
	documentary bool // gateways read the block from the document; nothing is extracted
	stays       bool // a fill writes it even when empty
}

// operationLayout is the layout of an operation.
var operationLayout = new(layout).addAll(operationRows, responseRows)

// endpoints are the blocks of an operation in the order of the table.
var endpoints = compileOperations()

func compileOperations() []middleware {
	var order []string
	rows, stays := map[string][]row{}, map[string]bool{}
	for _, r := range slices.Concat(operationRows, responseRows) {
		name, rest, _ := strings.Cut(r.ext, ".")
		listed, classic, _ := strings.Cut(r.classic, "[]")
		if r.rule == block && rest == "" {
			stays[name] = r.empty == kept
			continue
		}
		if r.classic == "" && rows[name] == nil {
			continue // read from the document only
		}
		if rows[name] == nil {
			order = append(order, name+" "+listed)
		}
		r.ext, r.classic = rest, strings.TrimPrefix(classic, ".")
		rows[name] = append(rows[name], r)
	}
	var out []middleware
	for _, key := range order {
		name, listed, _ := strings.Cut(key, " ")
		block, isList := strings.CutSuffix(name, "[]")
		rule := rows[name][0].rule
		section := compile(rows[name])
		section.hook = blockHooks[block]
		out = append(out, middleware{
			block: block, list: listed, section: section, isList: isList,
			documentary: rule == mock || rule == validate,
			stays:       stays[block],
		})
	}
	return out
}

// blockHooks are conversions that rows alone cannot express.
var blockHooks = map[string]hook{
	"transformRequestBody":  bodyTransform,
	"transformResponseBody": bodyTransform,
	"transformRequestHeaders": {extract: func(_, c *doc.Node) {
		c.Set("act_on", doc.NewBool(false))
	}},
	"transformResponseHeaders": {extract: func(_, c *doc.Node) {
		c.Set("act_on", doc.NewBool(false))
	}},
	"cache":           cacheTimeout,
	"enforceTimeout":  hardTimeout,
	"virtualEndpoint": virtualEndpoint,
	"postPlugins":     functionName("func_name"),
	"validateRequest": requestValidation,
	"mockResponse":    mockResponse,
}

// bodyTransform: rule template.
var bodyTransform = hook{
	extract: func(ext, c *doc.Node) {
		mode, source := source(ext)
		c.Put(doc.NewString(mode), "template_data", "template_mode")
		c.Put(doc.NewBool(true), "template_data", "enable_session")
		c.Put(doc.NewString(source), "template_data", "template_source")
	},
	fill: func(ext, c *doc.Node) {
		data := c.Get("template_data")
		fillSource(ext, data.Get("template_mode"), data.Get("template_source"))
	},
}

// source returns the source of a block's code: inline, or a file.
func source(ext *doc.Node) (mode, source string) {
	if body := ext.Get("body").Text(); body != "" {
		return "blob", body
	}
	return "file", ext.Get("path").Text()
}

func fillSource(ext, mode, source *doc.Node) {
	name := "path"
	if mode.Text() == "blob" {
		name = "body"
	}
	assignOrDrop(ext, doc.NewString(source.Text()), name)
}

// cacheTimeout: rule cache-60.
var cacheTimeout = hook{
	extract: func(ext, c *doc.Node) { c.Set("timeout", readWhole(ext.Get("timeout"))) },
	fill: func(ext, c *doc.Node) {
		wait := readWhole(c.Get("timeout"))
		if wait.Int() == 0 && ext.Get("enabled").True() {
			wait = doc.NewInt(60)
		}
		assignOrDrop(ext, wait, "timeout")
	},
}

// hardTimeout: rule timeout.
var hardTimeout = hook{
	extract: func(ext, c *doc.Node) {
		wait := ParseDuration(ext.Get("duration").Text())
		value := readWhole(ext.Get("value"))
		if wait != 0 {
			value = doc.NewInt(RoundUpSeconds(wait))
		}
		c.Set("timeout", value)
		if wait != 0 {
			c.Set("duration", durationText(wait))
		}
	},
	fill: func(ext, c *doc.Node) {
		wait := ParseDuration(c.Get("duration").Text())
		if wait == 0 {
			assign(ext, readWhole(c.Get("timeout")), "value")
			return
		}
		assign(ext, doc.NewInt(RoundUpSeconds(wait)), "value")
		assign(ext, durationText(wait), "duration")
	},
}

// virtualEndpoint: rules virtual-src and fn-name.
var virtualEndpoint = hook{
	extract: func(ext, c *doc.Node) {
		responseFunction.extract(ext, c)
		mode, source := source(ext)
		c.Set("function_source_type", doc.NewString(mode))
		c.Set("function_source_uri", doc.NewString(source))
	},
	fill: func(ext, c *doc.Node) {
		responseFunction.fill(ext, c)
		fillSource(ext, c.Get("function_source_type"), c.Get("function_source_uri"))
	},
}

var responseFunction = functionName("response_function_name")

// functionName: rule fn-name. member is its place in the classic form.
func functionName(member string) hook {
	return hook{
		extract: func(ext, c *doc.Node) {
			name := ext.Get("functionName").Text()
			if name == "" {
				name = ext.Get("name").Text()
			}
			c.Set(member, doc.NewString(name))
		},
		fill: func(ext, c *doc.Node) {
			assign(ext, doc.NewString(c.Get(member).Text()), "functionName")
			ext.Delete("name")
		},
	}
}

// requestValidation: rule validate, the part about the extension.
var requestValidation = hook{
	fill: func(ext, c *doc.Node) {
		assign(ext, doc.NewBool(!c.Get("disabled").True()), "enabled")
		assignOrDrop(ext, readWhole(c.Get("error_response_code")), "errorResponseCode")
	},
}
