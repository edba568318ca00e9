package app_test

import (
	"context"

	port "github.com/gatehouse-io/gatehouse/ports/fetch"
)

// pages is the web as transcripts know it: answers by URL.
type pages map[string]string

// Fetch implements fetch.Fetcher.
func (p pages) Fetch(_ context.Context, r port.Request) (port.Answer, error) {
	body, ok := p[r.URL]
	if !ok {
		return port.Answer{}, port.ErrUnreachable
	}
	return port.Answer{Status: 200, Header: map[string][]string{"Content-Type": {"application/json"}}, Body: []byte(body)}, nil
}

const examplesIndex = "https://examples.example/main/repository.json"

var web = pages{
	"http://gateway.example:8080/orders/1":  `{"id":1,"total":12.50}`,
	"http://gateway.example:8080/tyk/debug": `{"message":"ok","response":"====== Request ======","logs":""}`,
	examplesIndex: `{"examples":{"udg":[{"location":"udg/vat-checker","name":"VAT number checker","description":"Checks VAT numbers.",` +
		`"features":["REST data source"],"minTykVersion":"5.0"}]}}`,
	"https://examples.example/main/udg/vat-checker/.tyk.json": `{"type":"apidef","files":[{"file":"api.json","oas":{}}]}`,
	"https://examples.example/main/udg/vat-checker/api.json":  `{"name":"vat","api_id":"726e705e6afc432742867e1bd898cb26","proxy":{"listen_path":"/vat/"}}`,
	"https://examples.example/main/udg/vat-checker/readme.md": "# VAT number checker",
	"https://specs.example/events.yaml": "asyncapi: 2.4.0\ninfo: {title: Events, version: '1'}\nservers: {main: {url: 'kafka.example:9092', protocol: kafka}}\n" +
		"channels: {order.placed: {subscribe: {message: {payload: {type: object, required: [id], properties: {id: {type: integer}}}}}}}\n",
	"https://specs.example/web.yaml": "openapi: 3.0.3\ninfo: {title: Web, version: '1'}\nservers: [{url: 'http://web.internal'}]\npaths: {}\n",
}
