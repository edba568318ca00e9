package otel

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
)

// tracesPath is the path where collectors accept traces (OTLP specification,
// OTLP/HTTP).
const tracesPath = "/v1/traces"

// errEndpoint does not quote the endpoint, which may contain a password.
var errEndpoint = errors.New("otel: the endpoint must be a URL such as http://localhost:4318")

// collector translates an endpoint into the exporter's options.
func collector(endpoint string) ([]otlptracehttp.Option, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errEndpoint
	}
	base := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), tracesPath)
	opts := []otlptracehttp.Option{otlptracehttp.WithEndpointURL(u.Scheme + "://" + u.Host + base + tracesPath)}
	if u.User == nil {
		return opts, nil
	}
	password, _ := u.User.Password()
	basic := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
	return append(opts, otlptracehttp.WithHeaders(map[string]string{"Authorization": "Basic " + basic})), nil
}
