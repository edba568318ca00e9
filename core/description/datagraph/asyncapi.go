package datagraph

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

var asyncAPIVersion = regexp.MustCompile(`^2\.[0-4]\.[0-9]+`)

// FromAsyncAPI returns the definition of a data graph with a subscription for each subscribe
// operation of an AsyncAPI 2.0 to 2.4 document, which is not changed. Messages come from
// Kafka, the only broker that gateways support. Errors are faults with Code.
func FromAsyncAPI(document *doc.Node) (*doc.Node, error) {
	b := newBuilder(document)
	if !asyncAPIVersion.MatchString(document.Get("asyncapi").Text()) {
		b.fail("asyncapi", "must be the version of AsyncAPI, which is 2.0 to 2.4")
	}
	title := b.title()
	target := b.brokers("servers", nil)
	for name, channel := range document.Get("channels").Members() {
		if channel = oas.Resolve(document, channel); channel.Get("subscribe").Is(doc.TypeObject) && b.err == nil {
			b.subscription(slug(title), name, channel)
		}
	}
	if len(b.sources.Items()) == 0 {
		b.fail("channels", "has no subscribe operation")
	}
	if len(target) == 0 {
		return nil, b.err
	}
	return b.definition(title, "kafka://"+target[0])
}

// brokers returns the addresses of the first Kafka server among those of a channel: several
// servers are usually several environments instead of one cluster.
func (b *builder) brokers(place string, wanted []string) []string {
	servers := b.document.Get("servers")
	if len(wanted) == 0 {
		wanted = servers.Names()
	}
	b.look(place, len(wanted))
	for _, name := range wanted {
		if b.err != nil {
			return nil
		}
		server := oas.Resolve(b.document, servers.Get(name))
		if p := strings.ToLower(server.Get("protocol").Text()); p != "kafka" && p != "kafka-secure" {
			continue
		}
		var out []string
		for address := range strings.SplitSeq(b.fill("servers."+name, server), ",") {
			if _, rest, ok := strings.Cut(address, "://"); ok {
				address = rest
			}
			address = strings.TrimRight(strings.TrimSpace(address), "/")
			if !brokerAddress.MatchString(address) {
				b.fail("servers."+name+".url", "must be the address of a broker: host:port")
				return nil
			}
			out = append(out, address)
		}
		return out
	}
	b.fail(place, "has no server of protocol kafka or kafka-secure")
	return nil
}

// brokerAddress matches a host, or an IPv6 address in brackets, with an optional port.
var brokerAddress = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?$`)

// subscription adds the field for the messages of a channel.
func (b *builder) subscription(client, name string, channel *doc.Node) {
	place, o, r := below("channels", name, "subscribe"), channel.Get("subscribe"), b.root("Subscription")
	id := o.Get("operationId").Text()
	if id == "" {
		id = camel("on", name)
	}
	brokers := b.brokers(below("channels", name, "servers"), channel.Get("servers").Texts())
	if !b.spend(place) {
		return
	}
	c := call{b: b, place: place, taken: newNames(false), path: map[string]string{}}
	c.f.name, c.f.description = r.taken.take(valid(id)), summary(o)
	topic := channel.Get("bindings", "kafka", "topic").Text()
	if topic == "" {
		topic = name
	}
	topic = c.fill(topic)
	c.f.typ = b.message(place+".message", c.f.name, o.Get("message"))
	kafka := o.Get("bindings", "kafka")
	b.look(place, kafka.Get("groupId", "enum").Len()+kafka.Get("clientId", "enum").Len())
	if b.err != nil {
		return
	}
	config := doc.NewObject()
	config.Set("broker_addresses", doc.NewStrings(brokers))
	config.Set("topics", doc.NewStrings([]string{topic}))
	config.Set("group_id", doc.NewString(fixed(kafka.Get("groupId"), client+"-"+c.f.name)))
	config.Set("client_id", doc.NewString(fixed(kafka.Get("clientId"), client)))
	b.attach(place, r, c.f, "Kafka", config)
}

// fixed returns the single value that a binding allows, or the default: bindings describe
// identifiers with a schema.
func fixed(binding *doc.Node, usual string) string {
	for _, n := range append([]*doc.Node{binding, binding.Get("const"), binding.Get("default")}, binding.Get("enum").Items()...) {
		if s := n.Text(); s != "" {
			return s
		}
	}
	return usual
}

// message returns the type of a message's payload. Nothing is known if there are several, or
// if its format is not JSON Schema.
func (b *builder) message(place, field string, message *doc.Node) string {
	for range maxNesting {
		ref := message.Get("$ref").Text()
		if message = oas.Resolve(b.document, message); message == nil && ref != "" {
			b.fail(place, "the reference leads nowhere within the document")
		}
		alternatives := message.Get("oneOf").Items()
		if len(alternatives) != 1 {
			break
		}
		message = alternatives[0]
	}
	// The default format is that of AsyncAPI.
	payload, format := message.Get("payload"), message.Get("schemaFormat").Text()
	known := slices.ContainsFunc([]string{"application/vnd.aai.asyncapi", "application/schema+", "application/vnd.oai.openapi"},
		func(prefix string) bool { return strings.HasPrefix(format, prefix) })
	if format != "" && !known || payload == nil {
		return b.anything(use{})
	}
	hint := message.Get("name").Text()
	if hint == "" {
		hint = camel("", field, "Message")
	}
	name, _ := b.typeOf(payload, use{place: place + ".payload", hint: hint}, 0)
	return name
}
