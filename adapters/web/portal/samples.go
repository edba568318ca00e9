package portal

import (
	"encoding/json"
	"fmt"
	"strings"
)

// sample is a call of an operation in one language.
type sample struct{ Language, Text string }

// samples writes the call of an operation in the languages that developers ask for.
func samples(c call, servers []string) []sample {
	at := "https://gateway.example.com"
	if len(servers) > 0 {
		at = strings.TrimSuffix(servers[0], "/")
	}
	address, body := at+c.Path, bodyOf(c)
	return []sample{{"curl", curl(c, address, body)}, {"Go", golang(c, address, body)}, {"Python", python(c, address, body)}, {"JavaScript", javascript(c, address, body)}}
}

// bodyOf is an example of a body: its members at the top.
func bodyOf(c call) string {
	members := map[string]any{}
	for _, f := range c.Body {
		if f.Level == 0 {
			members[f.Name] = exampleOf(f.Type)
		}
	}
	if len(members) == 0 {
		return ""
	}
	text, err := json.MarshalIndent(members, "", "  ")
	if err != nil {
		return ""
	}
	return string(text)
}

func exampleOf(kind string) any {
	switch word, _, _ := strings.Cut(kind, " "); word {
	case "integer", "number":
		return 1
	case "boolean":
		return true
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	}
	return "text"
}

// quoted is a text in quotes for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func curl(c call, address, body string) string {
	out := "curl -X " + c.Method + " " + quoted(address) + " \\\n  -H 'Authorization: YOUR_KEY'"
	if body != "" {
		out += " \\\n  -H 'Content-Type: application/json' \\\n  -d " + quoted(body)
	}
	return out
}

func golang(c call, address, body string) string {
	reader := "nil"
	if body != "" {
		reader = "strings.NewReader(" + fmt.Sprintf("%q", body) + ")"
	}
	return fmt.Sprintf("req, err := http.NewRequest(%q, %q, %s)\nif err != nil {\n\treturn err\n}\nreq.Header.Set(\"Authorization\", \"YOUR_KEY\")\nresp, err := http.DefaultClient.Do(req)", c.Method, address, reader)
}

func python(c call, address, body string) string {
	out := fmt.Sprintf("import requests\n\nresponse = requests.request(%q, %q,\n    headers={\"Authorization\": \"YOUR_KEY\"}", c.Method, address)
	if body != "" {
		out += ",\n    data=" + fmt.Sprintf("%q", body)
	}
	return out + ")\nprint(response.json())"
}

func javascript(c call, address, body string) string {
	out := fmt.Sprintf("const response = await fetch(%q, {\n  method: %q,\n  headers: { Authorization: \"YOUR_KEY\" },\n", address, c.Method)
	if body != "" {
		out += "  body: JSON.stringify(" + body + "),\n"
	}
	return out + "});"
}
