package portal

import (
	"encoding/json"
	"fmt"
	"strings"
)

// sample is the code for a call in one language.
type sample struct{ Language, Text string }

// samples returns the code for a call in several languages.
func samples(c call, servers []string) []sample {
	at := "https://gateway.example.com"
	if len(servers) > 0 {
		at = strings.TrimSuffix(servers[0], "/")
	}
	address := at + c.Path
	options, reader, data, sent := "", "nil", "", "" // the body, in the syntax of each language
	if body := bodyOf(c); body != "" {
		options = " \\\n  -H 'Content-Type: application/json' \\\n  -d " + quoted(body)
		reader = fmt.Sprintf("strings.NewReader(%q)", body)
		data = fmt.Sprintf(",\n    data=%q", body)
		sent = "  body: JSON.stringify(" + body + "),\n"
	}
	return []sample{
		{"curl", "curl -X " + c.Method + " " + quoted(address) + " \\\n  -H 'Authorization: YOUR_KEY'" + options},
		{"Go", fmt.Sprintf("req, err := http.NewRequest(%q, %q, %s)\nif err != nil {\n\treturn err\n}\nreq.Header.Set(\"Authorization\", \"YOUR_KEY\")\nresp, err := http.DefaultClient.Do(req)", c.Method, address, reader)},
		{"Python", fmt.Sprintf("import requests\n\nresponse = requests.request(%q, %q,\n    headers={\"Authorization\": \"YOUR_KEY\"}%s)\nprint(response.json())", c.Method, address, data)},
		{"JavaScript", fmt.Sprintf("const response = await fetch(%q, {\n  method: %q,\n  headers: { Authorization: \"YOUR_KEY\" },\n%s});", address, c.Method, sent)},
	}
}

// bodyOf returns an example of a body: its top-level members.
func bodyOf(c call) string {
	members := map[string]any{}
	for _, f := range c.Body {
		if f.Level > 0 {
			continue
		}
		switch word, _, _ := strings.Cut(f.Type, " "); word {
		case "integer", "number":
			members[f.Name] = 1
		case "boolean":
			members[f.Name] = true
		case "array":
			members[f.Name] = []any{}
		case "object":
			members[f.Name] = map[string]any{}
		default:
			members[f.Name] = "text"
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

// quoted returns a text in single quotes for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
