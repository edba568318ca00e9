package validation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// expect compares the fields of problems with a list of words; "": no problems.
func expect(t *testing.T, found []Problem, want string) {
	t.Helper()
	var got []string
	for _, p := range found {
		got = append(got, p.Field)
		if p.Message == "" || !strings.HasSuffix(p.String(), p.Message) {
			t.Errorf("%+v", p)
		}
	}
	if !slices.Equal(got, strings.Fields(want)) {
		t.Errorf("%v, want %s", found, want)
	}
}

func TestOpenAPI(t *testing.T) {
	path := func(paths string) string {
		return `{"openapi":"3.0.3","info":{"title":"a","version":"1"},"paths":{` + paths + `}}`
	}
	rest := func(members string) string {
		return `{"openapi":"3.0.3","info":{"title":"a","version":"1"},"paths":{},` + members + `}`
	}
	const id = `{"name":"id","in":"path","required":true,"schema":{}}`
	for _, c := range []struct{ name, text, want string }{
		{"nothing said", `{"openapi":"3.0.3"}`, "info.title info.version"},
		{"empty version", `{"info":{"title":"a","version":"","license":{"name":""}}}`, "info.version info.license.name"},
		{"references in a circle", rest(`"components":{"schemas":{"A":{"$ref":"#/components/schemas/B"},"B":{"$ref":"#/components/schemas/A"},"C":{"properties":{"c":{"$ref":"#/components/schemas/C"}}}}}`),
			"components.schemas.A.$ref components.schemas.B.$ref"},
		{"a path that is itself", path(`"/a":{"$ref":"#/paths/~1a"}`), "paths./a.$ref"},
		{"declared on the path", path(`"/a/{id}":{"parameters":[` + id + `],"get":{}}`), ""},
		{"declared on the operation", path(`"/a/{id}":{"get":{"parameters":[` + id + `]}}`), ""},
		{"not declared", path(`"/a/{id}":{"get":{}}`), "paths./a/{id}.get"},
		{"not in the path", path(`"/a":{"get":{"parameters":[` + id + `]}}`), "paths./a.get"},
		{"with a pattern", path(`"/a/{id:[0-9]+}":{"get":{"parameters":[` + id + `]}}`), ""},
		{"by reference", `{"info":{"title":"a","version":"1"},"paths":{"/a/{id}":{"get":{"parameters":[{"$ref":"#/components/parameters/p"}]}}},
			"components":{"parameters":{"p":` + id + `}}}`, ""},
		{"twice", path(`"/a/{id}":{"get":{"parameters":[` + id + `,` + id + `]}}`), "paths./a/{id}.get.parameters.1"},
		{"without a name", path(`"/a":{"get":{"parameters":[{"name":"","in":"query"}]}}`), "paths./a.get.parameters.0.name"},
		{"same operation", path(`"/a":{"get":{"operationId":"x"},"put":{"operationId":"x"}}`), "paths./a.put.operationId"},
		{"same path", path(`"/{a}":{},"/{b}":{}`), "paths./{b}"},
		{"a path of many parameters", path(`"/` + strings.Repeat("{a}", 500_000) + `":{},"/` + strings.Repeat("{b}", 500_000) + `":{}`), "paths." + doc.Short("/"+strings.Repeat("{b}", 500_000))},
		{"extension", path(`"x-a":{"get":{"operationId":"x"}},"/a":{"get":{"operationId":"x"}}`), ""},
		{"server", rest(`"servers":[{"url":"https://{a}.example","variables":{"a":{"default":"b"}}}]`), ""},
		{"server without address", rest(`"servers":[{"url":""}]`), "servers.0.url"},
		{"server with braces", rest(`"servers":[{"url":"/{a"},{"url":"/a}"}]`), "servers.0.url servers.1.url"},
		{"undeclared variable", rest(`"servers":[{"url":"/{a}"}]`), "servers.0.url"},
		{"unused variable", rest(`"servers":[{"url":"/","variables":{"a":{"default":""}}}]`), "servers.0.variables.a servers.0.variables.a.default"},
		{"scheme without name", rest(`"components":{"securitySchemes":{"a":{"type":"apiKey","name":""},"b":{"type":"http"},"c":{"type":"openIdConnect"},"d":{"$ref":"#/info"}}}`),
			"components.securitySchemes.a.name components.securitySchemes.b.scheme components.securitySchemes.c.openIdConnectUrl"},
		{"flows", rest(`"components":{"securitySchemes":{"a":{"type":"oauth2","flows":{"implicit":{},"password":{},"authorizationCode":{"tokenUrl":"/t"}}}}}`),
			"components.securitySchemes.a.flows.implicit.authorizationUrl components.securitySchemes.a.flows.password.tokenUrl components.securitySchemes.a.flows.authorizationCode.authorizationUrl"},
		{"reference elsewhere", rest(`"components":{"schemas":{"a":{"$ref":"b.json"}}}`), "components.schemas.a.$ref"},
		{"reference to nowhere", rest(`"components":{"schemas":{"a":{"items":{"$ref":"#/components/schemas/b~1c"}}}}`), "components.schemas.a.items.$ref"},
		{"escaped reference", rest(`"components":{"schemas":{"b/c~":{},"a":{"$ref":"#/components/schemas/b~1c%7e0"}}}`), ""},
		{"reference to an item", rest(`"components":{"schemas":{"a":{"allOf":[{"type":"string"}]},"b":{"$ref":"#/components/schemas/a/allOf/0"},"c":{"$ref":"#/components/schemas/a/allOf/1"}}}`),
			"components.schemas.c.$ref"},
		{"reference by anchor", rest(`"components":{"schemas":{"a":{"$ref":"#b"}}}`), "components.schemas.a.$ref"},
		{"references to the wrong kind", rest(`"paths":{"/a":{"$ref":"#/components/schemas/s"},"/b":{"parameters":[{"$ref":"#/components/headers/h"}],"get":{"requestBody":{"$ref":"#/components/responses/r"},
			"responses":{"200":{"$ref":"#/components/schemas/s"},"default":{"headers":{"x-h":{"$ref":"#/components/schemas/s"}},"content":{"*/*":{"schema":{"$ref":"#/components/schemas"},"examples":{"e":{"$ref":"#/components/schemas/s"}}}},"links":{"l":{"$ref":"#/paths/~1b/get"}}}},
			"callbacks":{"c":{"$ref":"#/components/schemas/s"},"d":{"{$url}":{"$ref":"#/components/callbacks/k"},"x-d":{"$ref":"#/components/schemas/s"}}}}}},
			"components":{"schemas":{"s":{"additionalProperties":{"$ref":"#/components/headers/h"}}},"headers":{"h":{}},"responses":{"r":{}},"callbacks":{"k":{}},"securitySchemes":{"k":{"$ref":"#/components/schemas/s"}}}`),
			"paths./b.parameters.0.name paths./a.$ref paths./b.parameters.0.$ref paths./b.get.requestBody.$ref paths./b.get.responses.200.$ref paths./b.get.responses.default.headers.x-h.$ref " +
				"paths./b.get.responses.default.content.*/*.schema.$ref paths./b.get.responses.default.content.*/*.examples.e.$ref paths./b.get.responses.default.links.l.$ref " +
				"paths./b.get.callbacks.c.$ref paths./b.get.callbacks.d.{$url}.$ref " +
				"components.schemas.s.additionalProperties.$ref components.securitySchemes.k.$ref"},
		{"references to the right kind", rest(`"paths":{"/a":{"$ref":"#/paths/~1b"},"/b":{"get":{"responses":{"200":{"$ref":"#/paths/~1b/get/responses/default"},"default":{"content":{"*/*":{"schema":{"$ref":"#/paths/~1b/get/responses/default/content/a~1b/schema"}},
			"a/b":{"schema":{"properties":{"x-a":{"$ref":"#/components/headers/x-h/schema"},"b":{"$ref":"#/x-schemas/s"},"c":{"$ref":"#"},"d":{"$ref":"#/components/schemas/s/example"}}}}}}},
			"callbacks":{"c":{"{$url}":{"$ref":"#/components/callbacks/k/{$url}"}}}}}},
			"x-schemas":{"s":{}},"components":{"headers":{"x-h":{"schema":{}}},"schemas":{"s":{"example":{}}},"callbacks":{"k":{"{$url}":{}}}}`), ""},
		{"values of links are not looked at", rest(`"components":{"links":{"a":{"operationId":"x","parameters":{"p":{"$ref":"b.json"}},"requestBody":{"$ref":"c.json"}}}}`), ""},
		{"mapping", rest(`"components":{"schemas":{"a":{"discriminator":{"propertyName":"p","mapping":{"b":"a","c":"#/components/schemas/a","d":"d/e.json","f":"https://a.example/f"}}}}}`),
			"components.schemas.a.discriminator.mapping.d components.schemas.a.discriminator.mapping.f"},
		{"external documentation without an address", rest(`"externalDocs":{"url":""},"tags":[{"name":"a","externalDocs":{"url":""}}],"components":{"schemas":{"a":{"externalDocs":{"description":"b"},"properties":{"externalDocs":{"type":"object"}}}}}`),
			"externalDocs.url tags.0.externalDocs.url components.schemas.a.externalDocs.url"},
		{"examples without a value", rest(`"components":{"examples":{"a":{},"b":{"value":null},"c":{"value":false},"d":{"externalValue":"e"},"e":{"$ref":"#/components/examples/d"}},"headers":{"h":{"examples":{"f":{}}}},"schemas":{"s":{"properties":{"examples":{"type":"object"}}}}}`),
			"components.examples.a components.examples.b"},
		{"schemes of HTTP", rest(`"components":{"securitySchemes":{"a":{"type":"http","scheme":"a b"},"b":{"type":"http","scheme":"Bearer"}}}`), "components.securitySchemes.a.scheme"},
		{"encodings", path(`"/a":{"post":{"requestBody":{"content":{"a/b":{"encoding":{"c":{"contentType":"x"},"d":{"contentType":"image/png, text/*; charset=utf-8"},"e":{"contentType":"image/"},"f":{}}}}}}}`),
			"paths./a.post.requestBody.content.a/b.encoding.c.contentType paths./a.post.requestBody.content.a/b.encoding.e.contentType"},
		{"no response", path(`"/a":{"get":{"responses":{"x-a":1}},"put":{"responses":{"x-a":1,"200":{}}},"post":{}}`), "paths./a.get.responses"},
		{"to itself", rest(`"components":{"schemas":{"a":{"$ref":"#/components/schemas/a"}}}`), "components.schemas.a.$ref"},
		{"array without items", rest(`"components":{"schemas":{"a":{"type":"array"}}}`), "components.schemas.a.items"},
		{"read only and write only", rest(`"components":{"schemas":{"a":{"readOnly":true,"writeOnly":true}}}`), "components.schemas.a.readOnly"},
		{"values are not looked at", rest(`"components":{"schemas":{"a":{"default":{"$ref":"b.json"},"example":{"type":"array"},"x-a":{"$ref":"c"}}}}`), ""},
		{"properties are names", rest(`"components":{"schemas":{"a":{"properties":{"default":{"type":"array"},"$ref":{"type":"string"}}}}}`),
			"components.schemas.a.properties.default.items"},
		{"response by reference", rest(`"paths":{"/a":{"get":{"responses":{"200":{"$ref":"#/components/responses/r","x-a":1},"x-b":{"$ref":"#/info","c":1}}}}},"components":{"responses":{"r":{"description":"d"}}}`), ""},
		{"response by reference with siblings", rest(`"paths":{"/a":{"get":{"responses":{"200":{"$ref":"#/components/responses/r","description":"x"}}}}},"components":{"responses":{"r":{"description":"d"},"s":{"$ref":"#/components/responses/r","summary":"y"}}}`),
			"paths./a.get.responses.200.description components.responses.s.summary"},
		{"3.1: response by reference with siblings", `{"openapi":"3.1.0","info":{"title":"a","version":"1"},"paths":{"/a":{"get":{"responses":{"default":{"$ref":"#/components/responses/r","summary":"x"}}}}},"components":{"responses":{"r":{"description":"d"}}}}`,
			"paths./a.get.responses.default.summary"},
		{"properties called responses", rest(`"components":{"schemas":{"a":{"properties":{"responses":{"type":"object","properties":{"b":{"$ref":"#/components/schemas/a","description":"c"}}}}}}}`), ""},
		{"link", rest(`"components":{"links":{"a":{},"b":{"operationId":"x"}}}`), "components.links.a"},
		{"3.1", `{"openapi":"3.1.0","info":{"title":"a","version":"1"},"components":{"schemas":{"a":{"type":"array"},"b":{"examples":[{"$ref":"x"}]}}}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, OpenAPI(doctest.Node(t, c.text)), c.want) })
	}
}

// Each reference is followed once, even in long chains: otherwise these chains would take
// minutes.
func TestChainsOfReferences(t *testing.T) {
	const links = 50_000
	for end, problems := range map[string]int{`{"type":"string"}`: 0, `{"$ref":"#/components/schemas/s7"}`: shape.MaxProblems} {
		var b strings.Builder
		for i := range links {
			fmt.Fprintf(&b, `"s%d":{"$ref":"#/components/schemas/s%d"},`, i, i+1)
		}
		d := doctest.Node(t, fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":"a","version":"1"},"paths":{},"components":{"schemas":{%s"s%d":%s}}}`, b.String(), links, end))
		if found := OpenAPI(d); len(found) != problems {
			t.Errorf("%s: %d problems, want %d", end, len(found), problems)
		}
	}
}

// TestLongNames: the size of the messages does not grow with name length times number of
// problems.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("n", 100_000)
	var refs strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&refs, `,"p%d":{"$ref":"#/components/schemas/none"}`, i)
	}
	for _, text := range []string{
		fmt.Sprintf(`"paths":{},"components":{"schemas":{%q:{"properties":{%s}}}}`, long, refs.String()[1:]),
		fmt.Sprintf(`"paths":{"/{%s}":{"get":{"servers":[%s{}]}}}`, long, strings.Repeat(`{"url":""},`, 1000)),
	} {
		found := OpenAPI(doctest.Node(t, `{"openapi":"3.0.3","info":{"title":"a","version":"1"},`+text+`}`))
		said := 0
		for _, p := range found {
			said += len(p.String())
		}
		if len(found) != shape.MaxProblems || said > 2000*len(found) || !strings.Contains(found[1].Field, "nn…nn") {
			t.Errorf("%d problems of %d characters", len(found), said)
		}
	}
}

// TestReferencesToItems: references to items of a long list do not copy the list.
func TestReferencesToItems(t *testing.T) {
	const items = 100_000
	d := doctest.Node(t, `{"info":{"title":"a","version":"1"},"components":{"schemas":{"list":{"allOf":[{}`+strings.Repeat(`,{}`, items)+`]},"all":{"anyOf":[{}`+
		strings.Repeat(`,{"$ref":"#/components/schemas/list/allOf/99999"}`, items)+`,{"$ref":"#/components/schemas/list/allOf/100001"}]}}}}`)
	expect(t, OpenAPI(d), "components.schemas.all.anyOf.100001.$ref")
}

func TestDocument(t *testing.T) {
	const native = `"components":{"securitySchemes":{"key":{"type":"apiKey"},"o":{"type":"oauth2"}}},`
	auth := func(members string) string {
		return `{` + native + `"security":[{"key":[]}],"x-tyk-api-gateway":{"server":{"authentication":{` + members + `}}}}`
	}
	const prefix = "x-tyk-api-gateway.server.authentication."
	for _, c := range []struct {
		name, text string
		mcp        bool
		want       string
	}{
		{name: "empty", text: `{}`},
		{name: "whole numbers", text: `{"x-tyk-api-gateway":{"server":{"port":8.0e3,"own":1.5},"upstream":{"rateLimit":{"rate":1e18},"loadBalancing":{"targets":[{"weight":2}]}},
			"middleware":{"operations":{"a":{"circuitBreaker":{"threshold":0.5},"cache":{"cacheResponseCodes":[200,-9223372036854775808]}}}}}}`},
		{name: "broken numbers", text: `{"x-tyk-api-gateway":{"upstream":{"rateLimit":{"rate":1.5},"loadBalancing":{"targets":[{"weight":2},{"weight":0.5}]}},
			"middleware":{"global":{"cache":{"timeout":1e19}},"operations":{"a":{"rateLimit":{"rate":9223372036854775808},"cache":{"cacheResponseCodes":[200,1e20]}}}}}}`,
			want: "x-tyk-api-gateway.upstream.rateLimit.rate x-tyk-api-gateway.upstream.loadBalancing.targets.1.weight x-tyk-api-gateway.middleware.global.cache.timeout " +
				"x-tyk-api-gateway.middleware.operations.a.rateLimit.rate x-tyk-api-gateway.middleware.operations.a.cache.cacheResponseCodes.1"},
		{name: "long addresses", text: `{"x-tyk-api-gateway":{"server":{"listenPath":{"value":"/` + strings.Repeat("a", 4096) + `"},"customDomain":{"name":"` + strings.Repeat("a", 4097) + `"}}}}`,
			want: "x-tyk-api-gateway.server.customDomain.name x-tyk-api-gateway.server.listenPath.value"},
		{name: "handlers without a name", text: `{"x-tyk-api-gateway":{"server":{"eventHandlers":[{"type":"webhook","id":"a","cooldownPeriod":"1s"},
			{"type":"log","id":"a","cooldownPeriod":"1s","logPrefix":"x"},{"type":"custom","name":null},{"type":"log","name":""},{"type":"custom","name":"n"}]}}}`,
			want: "x-tyk-api-gateway.server.eventHandlers.1.name x-tyk-api-gateway.server.eventHandlers.2.name"},
		{name: "figures of the whole API", text: `{"x-tyk-api-gateway":{"middleware":{"global":{"cache":{"timeout":-1},"requestSizeLimit":{"value":-1}}}}}`,
			want: "x-tyk-api-gateway.middleware.global.cache.timeout x-tyk-api-gateway.middleware.global.requestSizeLimit.value"},
		{name: "figures of zero", text: `{"x-tyk-api-gateway":{"middleware":{"global":{"cache":{"timeout":0},"requestSizeLimit":{"value":0}}}}}`},
		{name: "unknown scheme", text: `{"security":[{},{"a":[]}]}`, want: "security.1.a"},
		{name: "legacy", text: auth(`"hmac":{"enabled":true},"securitySchemes":{"o":{"enabled":true}}`)},
		{name: "compliant", text: auth(`"securityProcessingMode":"compliant","hmac":{"enabled":true},"oidc":{"enabled":false},"custom":{"enabled":true},
			"security":[["custom","key"]],"securitySchemes":{"key":{"enabled":true},"jwt":{"enabled":true}}`), want: prefix + "hmac " + prefix + "securitySchemes.jwt"},
		{name: "metadata off", text: auth(`"protectedResourceMetadata":{"enabled":false}`)},
		{name: "metadata without resource", text: auth(`"protectedResourceMetadata":{"enabled":true}`), want: prefix + "protectedResourceMetadata.resource"},
		{name: "metadata of a scheme", text: auth(`"securitySchemes":{"o":{"protectedResourceMetadata":{"enabled":true}}}`),
			want: prefix + "securitySchemes.o.protectedResourceMetadata.resource"},
		{name: "mirror", text: auth(`"protectedResourceMetadata":{"enabled":true}`), mcp: true},
		{name: "mcp without servers", text: auth(`"protectedResourceMetadata":{"enabled":true,"resource":"r"}`), mcp: true,
			want: prefix + "protectedResourceMetadata.authorizationServers"},
		{name: "mcp without resource", text: auth(`"protectedResourceMetadata":{"enabled":true,"authorizationServers":["s"]}`), mcp: true,
			want: prefix + "protectedResourceMetadata.resource"},
		{name: "mcp scheme without resource", text: auth(`"securitySchemes":{"o":{"protectedResourceMetadata":{"enabled":true,"authorizationServers":["s"]}}}`), mcp: true},
		{name: "mcp scheme that mirrors", text: auth(`"securitySchemes":{"o":{"protectedResourceMetadata":{"enabled":true}}}`), mcp: true},
		{name: "mcp scheme without servers", text: auth(`"securitySchemes":{"o":{"protectedResourceMetadata":{"enabled":true,"resource":"r"}}}`), mcp: true,
			want: prefix + "securitySchemes.o.protectedResourceMetadata.authorizationServers"},
		{name: "scheme of REST without resource", text: auth(`"securitySchemes":{"o":{"protectedResourceMetadata":{"enabled":true,"authorizationServers":["s"]}}}`),
			want: prefix + "securitySchemes.o.protectedResourceMetadata.resource"},
		{name: "tool view on REST", text: `{"x-tyk-mcp-server":{},"x-tyk-api-gateway":{"upstream":{"url":"tyk://a__mcp-server"}}}`, want: "x-tyk-mcp-server"},
		{name: "tool view elsewhere", text: `{"x-tyk-mcp-server":{},"x-tyk-api-gateway":{"upstream":{"url":"http://a"}}}`, mcp: true, want: "x-tyk-mcp-server"},
		{name: "tool view of an adapter", text: `{"x-tyk-mcp-server":{},"x-tyk-api-gateway":{"upstream":{"url":"tyk://id:a__mcp-server/"}}}`, mcp: true},
		{name: "tool view by path", text: `{"x-tyk-mcp-server":{},"x-tyk-api-gateway":{"upstream":{"url":"tyk://a/mcp"}}}`, mcp: true},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, Document(doctest.Node(t, c.text), c.mcp), c.want) })
	}
}

func TestOAuth2(t *testing.T) {
	const at = "x-tyk-api-gateway.server.authentication.securitySchemes.o."
	const at0 = at + "tokenExchange.providers.0."
	entry := func(entry, middleware string) string {
		return `{"components":{"securitySchemes":{"o":{"type":"oauth2"}}},"x-tyk-api-gateway":{"server":{"authentication":{"securitySchemes":{"o":` + entry + `}}},
			"middleware":` + middleware + `}}`
	}
	const good = `"name":"p","tokenEndpoint":"https://t.example","clientAuth":{"clientId":"c"}`
	provider := func(members string) string {
		return entry(`{"tokenExchange":{"enabled":true,"providers":[{`+members+`}]}}`, `{}`)
	}
	override := func(provider, exchange string) string {
		return entry(`{"tokenExchange":{"enabled":true,"providers":[{`+good+provider+`}]}}`, exchange)
	}
	for _, c := range []struct{ name, text, want string }{
		{"a scheme by reference", strings.Replace(entry(`{"tokenExchange":{"enabled":true}}`, `{}`), `"o":{"type":"oauth2"}`, `"o":{"$ref":"#/components/securitySchemes/r"},"r":{"type":"oauth2"}`, 1), at + "tokenExchange.providers"},
		{"own token server", entry(`{"enabled":true}`, `{}`), ""},
		{"check off", entry(`{"scopeCheck":{"enabled":false,"scopeSource":"moon"}}`, `{}`), ""},
		{"check on", entry(`{"scopeCheck":{"enabled":true,"scopeSource":"moon"}}`, `{}`), at + "scopeCheck.scopeSource"},
		{"exchange off", entry(`{"tokenExchange":{"enabled":false}}`, `{}`), ""},
		{"no provider", entry(`{"tokenExchange":{"enabled":true}}`, `{}`), at + "tokenExchange.providers"},
		{"good", provider(good), ""},
		{"empty", provider(``), at0 + "name " + at0 + "tokenEndpoint " + at0 + "clientAuth.clientId"},
		{"a blank name", provider(`"name":" ","tokenEndpoint":"https://t.example","clientAuth":{"clientId":"c"}`), at0 + "name"},
		{"grant", provider(good + `,"grantType":"magic"`), at0 + "grantType"},
		{"relative", provider(`"name":"p","tokenEndpoint":"/t","clientAuth":{"clientId":"c"}`), at0 + "tokenEndpoint"},
		{"context", provider(`"name":"p","tokenEndpoint":"$tyk_context.x","clientAuth":{"clientId":"c"}`), ""},
		{"secret", provider(`"name":"p","tokenEndpoint":"env://T","clientAuth":{"clientId":"c"}`), ""},
		{"secret without a name", provider(`"name":"p","tokenEndpoint":"env://","clientAuth":{"clientId":"c"}`), at0 + "tokenEndpoint"},
		{"method", provider(`"name":"p","tokenEndpoint":"https://t","clientAuth":{"clientId":"c","method":"none"}`), at0 + "clientAuth.method"},
		{"certificate", provider(`"name":"p","tokenEndpoint":"https://t","clientAuth":{"clientId":"c","method":"private_key_jwt"}`), at0 + "clientAuth.certId"},
		{"cache", provider(good + `,"cache":{"mode":"x"}`), at0 + "cache.mode"},
		{"issuers", provider(good + `,"issuers":["regex:a","regex:^($","regex:^a$","b"]`), at0 + "issuers.0 " + at0 + "issuers.1"},
		{"reserved", provider(good + `,"customParams":{"audience":"a","other":"b"}`), at0 + "customParams.audience"},
		{"reserved for the other grant", provider(good + `,"grantType":"jwt-bearer","customParams":{"audience":"a","assertion":"b"}`), at0 + "customParams.assertion"},
		{"two of a name and issuer", entry(`{"tokenExchange":{"enabled":true,"providers":[{`+good+`,"issuers":["i","i"]},{`+good+`,"issuers":["i"]}]}}`, `{}`),
			at + "tokenExchange.providers.1.name " + at + "tokenExchange.providers.1.issuers.0"},
		{"no audience", override(``, `{"operations":{"a":{"exchange":{"enabled":true}}}}`), at + "tokenExchange.providers"},
		{"not switched on", override(``, `{"operations":{"a":{"exchange":{"enabled":false}}}}`), ""},
		{"audience of the provider", override(`,"defaultTarget":{"audience":"x"}`, `{"mcpTools":{"a":{"exchange":{"enabled":true}}}}`), ""},
		{"audience of the operation", override(``, `{"operations":{"a":{"exchange":{"enabled":true,"audience":"x"}}}}`), ""},
		{"audience by bearer", override(`,"grantType":"jwt-bearer"`, `{"operations":{"a":{"exchange":{"enabled":true}}}}`), ""},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, Document(doctest.Node(t, c.text), false), c.want) })
	}
}

func TestLoadable(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", `{}`, ""},
		{"data sources", `{"graphql":{"engine":{"data_sources":[{"name":"a"},{"name":" A "},{"name":"b"}]}}}`, "graphql.engine.data_sources.1.name"},
		{"no source", `{"enable_jwt":true,"auth_configs":{"jwt":{"disable_header":true}}}`, "auth_configs.jwt"},
		{"a source", `{"enable_jwt":true,"auth_configs":{"jwt":{"disable_header":true,"use_cookie":true}}}`, ""},
		{"a method that is off", `{"auth_configs":{"authToken":{"disable_header":true}}}`, ""},
		{"no config", `{"use_standard_auth":true,"auth_configs":null}`, ""},
		{"timeouts", `{"version_data":{"versions":{"v":{"global_enforce_timeout":"-1s","extended_paths":{"hard_timeouts":[{"timeout":-1,"duration":"-500ms"},{"timeout":1}]}}}}}`,
			"version_data.versions.v.global_enforce_timeout version_data.versions.v.extended_paths.hard_timeouts.0.timeout version_data.versions.v.extended_paths.hard_timeouts.0.duration"},
		{"upstream off", `{"upstream_auth":{"oauth":{"enabled":true}}}`, ""},
		{"upstream basic", `{"upstream_auth":{"enabled":true,"basic_auth":{"enabled":true}}}`, ""},
		{"upstream both", `{"upstream_auth":{"enabled":true,"basic_auth":{"enabled":true},"oauth":{"enabled":true,"allowed_authorize_types":["password"]}}}`, "upstream_auth"},
		{"upstream types", `{"upstream_auth":{"enabled":true,"oauth":{"enabled":true,"allowed_authorize_types":["password","clientCredentials"]}}}`,
			"upstream_auth.oauth.allowed_authorize_types"},
		{"upstream method", `{"upstream_auth":{"enabled":true,"oauth":{"enabled":true,"allowed_authorize_types":["password"],"password":{"method":"x"}}}}`,
			"upstream_auth.oauth.password.method"},
		{"balancing", `{"proxy":{"enable_load_balancing":true,"target_list":[]}}`, "proxy.target_list"},
		{"balancing by discovery", `{"proxy":{"enable_load_balancing":true,"service_discovery":{"use_discovery_service":true}}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, Loadable(doctest.Node(t, c.text)), c.want) })
	}
}

func TestServed(t *testing.T) {
	path := func(path string) string { return `{"proxy":{"listen_path":"` + path + `"}}` }
	with := func(members string) string { return `{"proxy":{"listen_path":"/"},` + members + `}` }
	target := func(url string) string { return `{"proxy":{"listen_path":"/","target_url":"` + url + `"}}` }
	const p, d = "proxy.listen_path", "domain"
	for _, c := range []struct{ name, text, want string }{
		{"good", path("/a/{id}/{v:v[0-9]{1,2}}/"), ""},
		{"no path", `{}`, p},
		{"without a slash", path("a/"), p},
		{"tcp", `{"protocol":"tcp"}`, ""},
		{"a long key of versions", with(`"definition":{"key":"` + strings.Repeat("k", 4097) + `"}`), "definition.key"},
		{"a key of versions", with(`"definition":{"key":"` + strings.Repeat("k", 4096) + `"}`), ""},
		{"braces", path("/{a"), p},
		{"braces the wrong way", path("/a}"), p},
		{"unnamed", path("/{:a}"), p},
		{"without pattern", path("/{a:}"), p},
		{"capture group", path("/{a:(x|y)}"), p},
		{"no expression", path("/{a:[}"), p},
		{"longest path", path("/" + strings.Repeat("ä", 4095)), ""},
		{"longer path", path("/" + strings.Repeat("ä", 4096)), p},
		{"long path of a TCP service", `{"protocol":"tcp","proxy":{"listen_path":"` + strings.Repeat("a", 4097) + `"}}`, p},
		{"long reference", path("env://" + strings.Repeat("a", 4096)), p},
		{"long domain", with(`"domain":"` + strings.Repeat("a", 4097) + `"`), d},
		{"domain", with(`"domain":"{sub:[a-z]+}.example.com"`), ""},
		{"domain of a broken expression", with(`"domain":"{sub:(?!a)}.example.com"`), d},
		{"addresses", with(`"allowed_ips":["10.0.0.1","10.0.0.0/8","::1","fe80::/10"],"blacklisted_ips":null`), ""},
		{"bad addresses", with(`"allowed_ips":["nonsense"],"blacklisted_ips":["1.2.3.4","1.2.3.4/40"]`), "allowed_ips.0 blacklisted_ips.1"},
		{"timeouts", with(`"version_data":{"versions":{"":{"global_enforce_timeout":"1.5s","extended_paths":{"hard_timeouts":[{"duration":"500ms"},{"duration":""},{"duration":"1h30m"}]}}}}`), ""},
		{"bad timeouts", with(`"version_data":{"versions":{"":{"global_enforce_timeout":"5","extended_paths":{"hard_timeouts":[{"duration":"2 m"}]}}}}`),
			"version_data.versions..global_enforce_timeout version_data.versions..extended_paths.hard_timeouts.0.duration"},
		{"target", target("http://up.example:80/x"), ""},
		{"no target", target(""), ""},
		{"target without a scheme", target("invalid-url"), "proxy.target_url"},
		{"relative target", target("/x"), "proxy.target_url"},
		{"target with a host and no scheme", target("//up.example/x"), "proxy.target_url"},
		{"target with a scheme and no host", target("mailto:x"), "proxy.target_url"},
		{"TCP target without a port that exists", `{"protocol":"tcp","listen_port":1,"proxy":{"target_url":"up.example:99999"}}`, "proxy.target_url"},
		{"target with a port that no host has", target("http://up.example:99999/"), "proxy.target_url"},
		{"target with a port and no host", target("http://:80/"), "proxy.target_url"},
		{"target by reference", target("consul://up"), ""},
		{"targets without a scheme", `{"proxy":{"listen_path":"/","enable_load_balancing":true,"target_list":["http://a.example","b.example","10.0.0.1:8080"]}}`, ""},
		{"one of many targets without a host", `{"proxy":{"listen_path":"/","enable_load_balancing":true,"target_list":["http://a.example",":8080"]}}`, "proxy.target_list.1"},
		{"a scheme alone is no target", `{"proxy":{"listen_path":"/","enable_load_balancing":true,"target_list":["http://a.example","http://","https:///x"]}}`,
			"proxy.target_list.1 proxy.target_list.2"},
		{"an empty target", `{"proxy":{"listen_path":"/","enable_load_balancing":true,"target_list":["http://a.example",""]}}`, "proxy.target_list.1"},
		{"targets that are not used", `{"proxy":{"listen_path":"/","target_url":"http://a.example","target_list":["b.example"]}}`, ""},
		{"target of a TCP service", `{"protocol":"tcp","proxy":{"target_url":"up.example:99"}}`, ""},
		{"target of a version", `{"proxy":{"listen_path":"/"},"version_data":{"versions":{"v1":{"override_target":"up"},"v2":{"override_target":"vault://up"},"v3":{"override_target":""}}}}`,
			"version_data.versions.v1.override_target"},
		{"listen path by reference", path("secrets://x"), ""},
		{"listen path by another reference", path("env://{A"), ""},
		{"listen path by a reference without a name", path("env://"), "proxy.listen_path"},
		{"target by a reference without a name", target("secrets://"), "proxy.target_url"},
		{"listen path that is no reference", path("http://x"), "proxy.listen_path"},
		{"other API", target("tyk://id:abc__mcp-server"), ""},
		{"secret target", target("http://$kv{a/b}/x"), ""},
		{"target with blanks", target("not an address"), "proxy.target_url"},
		{"target without host", target("http:///x"), "proxy.target_url"},
		{"broken target", target("http://[::1"), "proxy.target_url"},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, Served(doctest.Node(t, c.text)), c.want) })
	}
	if got := Classic(doctest.Node(t, path("x"))); len(got) == 0 || got[0].Message != `Listen path must start with "/"` {
		t.Error(got)
	}
}

func TestPrimitives(t *testing.T) {
	d := doctest.Node(t, `{"x-tyk-api-gateway":{"middleware":{"operations":{"a":{"cache":{}}},"mcpTools":{"t":{"cache":{},"rateLimit":{}}},"mcpPrompts":{"p":{"urlRewrite":{"enabled":false}}}}}}`)
	expect(t, Primitives(d), "x-tyk-api-gateway.middleware.operations.a.cache x-tyk-api-gateway.middleware.mcpTools.t.cache x-tyk-api-gateway.middleware.mcpPrompts.p.urlRewrite")
}

func TestStreams(t *testing.T) {
	d := doctest.Node(t, `{"x-tyk-streaming":{"streams":{
		"good":{"input":{"label":"l","broker":{"inputs":[{"kafka":{}},{"http_client":{}}]},"processors":[{"command":{}}]},"output":{"mqtt":{}}},
		"bad":{"input":{"broker":{"inputs":[{"file":{}}]}},"output":{"type":"sql"},"output_resources":[{"aws_s3":{}}]}}}}`)
	const bad = "x-tyk-streaming.streams.bad."
	expect(t, Streams(d), bad+"input.broker.inputs.0.file "+bad+"output.type "+bad+"output_resources.0.aws_s3")
}

func FuzzRules(f *testing.F) {
	f.Add(`{"openapi":"3.0.0","paths":{"/{a}{":{"get":{"parameters":[{"$ref":"#/paths"}]}}},"servers":[{"url":"}{"}]}`)
	f.Add(`{"x-tyk-api-gateway":{"server":{"authentication":{"securityProcessingMode":"compliant","securitySchemes":{"a":1}}}},"security":[1,{"a":1}]}`)
	f.Add(`{"proxy":{"listen_path":"/{a:{}","target_url":"%"},"domain":"{","version_data":{"versions":{"a":{"extended_paths":{"hard_timeouts":[1,null]}}}},"allowed_ips":[1]}`)
	f.Add(`{"x-tyk-streaming":{"streams":{"a":{"input":{"broker":{"inputs":{}}}},"b":1}},"components":{"schemas":{"a":{"$ref":"#"},"b":{"$ref":""}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := doc.ParseNode([]byte(text))
		if err != nil {
			return
		}
		before := d.Clone()
		for _, found := range [][]Problem{OpenAPI(d), Document(d, true), Document(d, false), Classic(d), Primitives(d), Streams(d)} {
			for _, p := range found {
				if p.Message == "" {
					t.Errorf("%+v", p)
				}
			}
		}
		if !d.Equal(before) {
			t.Error("changed")
		}
	})
}
